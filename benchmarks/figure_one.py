"""Figure 1's problem, 20 draws: exact test error of the oracle, UU, both CCN readings and UU-biased.

P ~ N([1, 1], I), N ~ N([-1, -1], I), sets (.9, .4) of 2,000 and 1,000 rows, target prior .3. Linear model, sigmoid
loss, no penalty to speak of; the oracle has 3,000 labeled rows at the target prior. A line's error is known exactly.

    python benchmarks/figure_one.py [--draws 20]
"""

import argparse
from typing import Any

import numpy as np
from record import stamp, write
from scipy.stats import norm

from uulearn import UULinearClassifier
from uulearn.baselines import BiasedClassifier, CCNClassifier

SHARES, PRIOR, SIZES = (0.9, 0.4), 0.3, (2000, 1000)


def draw(share: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a mixture with this share of positives, and their classes."""
    truth = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 2)) + np.where(truth, 1.0, -1.0)[:, None], truth


def exact_error(weights: np.ndarray, intercept: float) -> float:
    """Error of the line at the target prior."""
    length = np.linalg.norm(weights)
    missed, taken = norm.cdf(-(weights.sum() + intercept) / length), norm.cdf((-weights.sum() + intercept) / length)
    return float(PRIOR * missed + (1 - PRIOR) * taken)


def methods() -> dict[str, Any]:
    def linear(**target: Any) -> UULinearClassifier:
        return UULinearClassifier(**target, loss="sigmoid", C=1e4, calibrate=False)

    here = {"set_priors": SHARES, "prior": PRIOR}
    return {
        "UU": linear(**here),
        "ccn": CCNClassifier(linear(**here), **here),
        "ccn-pooled": CCNClassifier(linear(**here), **here, reading="pooled"),
        "UU-biased": BiasedClassifier(linear(**here), **here),
    }


def line(clf: Any) -> tuple[np.ndarray, float]:
    inner = getattr(clf, "estimator_", clf)
    return inner.coef_[0], float(inner.intercept_[0])


def main(draws: int) -> None:
    bayes = exact_error(np.array([1.0, 1.0]), float(np.log(PRIOR / (1 - PRIOR)) / 2))
    rows = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        parts = [draw(share, n, rng)[0] for share, n in zip(SHARES, SIZES, strict=True)]
        X, sets = np.vstack(parts), np.repeat([0, 1], SIZES)
        labeled, truth = draw(PRIOR, sum(SIZES), rng)
        oracle = UULinearClassifier(set_priors=(0, 1), prior=float(truth.mean()), loss="sigmoid", C=1e4)
        found = {"oracle": oracle.fit(labeled, truth), **{name: clf.fit(X, sets) for name, clf in methods().items()}}
        rows += [
            {"figure": "figure-1", "seed": seed, "method": name, "error": round(exact_error(*line(clf)), 6)}
            | {"bayes": round(bayes, 6), **stamp()}
            for name, clf in found.items()
        ]
    write("figure_one", rows)
    print(f"Bayes {100 * bayes:.2f} %")
    for name in dict.fromkeys(row["method"] for row in rows):
        errors = 100 * np.array([row["error"] for row in rows if row["method"] == name])
        print(f"{name:10} {errors.mean():6.2f} % (standard deviation {errors.std(ddof=1):.2f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    main(parser.parse_args().draws)
