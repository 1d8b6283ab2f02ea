"""Speed of the linear classifier: covertype, 280,000 + 280,000 unlabeled rows, beside LogisticRegression on the labels.

Class 2 against the rest, 54 standardised features, sets (.9, .1), target prior .5, logistic loss, C=1 on both sides,
gradient max-norm at most 1e-6 of the mean objective on both sides. The contenders alternate in one run. The gradient
norm reached is computed here, from the coefficients, by the same function for all.

    python benchmarks/linear.py [--turns 7] [--slow-turns 1]
"""

import argparse
import time
import tracemalloc
from typing import Any

import numpy as np
from data import load, standardised
from record import stamp, write
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from uulearn import UULinearClassifier, make_unlabeled_sets, risk
from uulearn.sets import match_sets

SHARES, PRIOR, SIZES, TOL = (0.9, 0.1), 0.5, (280_000, 280_000), 1e-6


def gradient_norm(X: np.ndarray, columns: tuple[np.ndarray, np.ndarray], clf: Any) -> float:
    """Largest entry of the gradient of mean logistic risk + ||w||^2 / (2 n) at the coefficients."""
    scores = X @ clf.coef_[0] + clf.intercept_
    by_score = columns[1] * expit(scores) - columns[0] * expit(-scores)
    return float(np.abs(np.append(X.T @ by_score + clf.coef_[0] / len(X), by_score.sum())).max())


def main(turns: int, slow_turns: int) -> None:
    X, y = load("covertype")
    rows, sets, indices = make_unlabeled_sets(standardised(X), y, SHARES, SIZES, overlap="allow", random_state=0)
    labels = y[indices]
    unlabeled = risk.row_weights(match_sets(sets, SHARES, PRIOR))
    labeled = (labels / len(labels), (1 - labels) / len(labels))
    ours = UULinearClassifier(set_priors=SHARES, prior=PRIOR, tol=TOL, calibrate=False)
    newton, lbfgs = (
        LogisticRegression(solver=solver, tol=TOL, max_iter=10_000) for solver in ("newton-cholesky", "lbfgs")
    )
    contenders = {
        "uulearn UULinearClassifier": (ours, sets, unlabeled, turns),
        "scikit-learn newton-cholesky": (newton, labels, labeled, turns),
        "scikit-learn lbfgs": (lbfgs, labels, labeled, slow_turns),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    norms: dict[str, float] = {}
    for turn in range(turns):
        for name, (clf, target, columns, most) in contenders.items():
            if turn < most:
                began = time.perf_counter()
                clf.fit(rows, target)
                seconds[name].append(time.perf_counter() - began)
                norms[name] = gradient_norm(rows, columns, clf)
                print(f"{name:30} {seconds[name][-1]:8.3f} s   gradient {norms[name]:.1e}", flush=True)
    tracemalloc.start()
    contenders["uulearn UULinearClassifier"][0].fit(rows, sets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    fastest = {name: min(values) for name, values in seconds.items()}
    rival = min(value for name, value in fastest.items() if name.startswith("scikit"))
    summary = {
        "figure": "linear",
        "seed": 0,
        "rows": len(rows),
        "features": rows.shape[1],
        "seconds": {name: [round(value, 3) for value in values] for name, values in seconds.items()},
        "gradient_norm": norms,
        "ratio_best": round(fastest["uulearn UULinearClassifier"] / rival, 3),
        "ratio_median": round(
            float(np.median(seconds["uulearn UULinearClassifier"]))
            / min(float(np.median(values)) for name, values in seconds.items() if name.startswith("scikit")),
            3,
        ),
        "extra_memory_over_X": round(peak / rows.nbytes, 3),
        **stamp(),
    }
    write("linear", [summary])
    print(summary)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--slow-turns", type=int, default=1)
    options = parser.parse_args()
    main(options.turns, options.slow_turns)
