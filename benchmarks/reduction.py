"""Cost of the reduction: UUClassifier(route="weight") beside the wrapped estimator's own fit with the same weights.

Covertype, standardised, (.9, .4), prior .2: 40,000 + 20,000 rows for two models that take their time, 14,000 + 6,000
for a quick one, which shows the cost that does not grow with the model. The two alternate in one run; the figure is the
median ratio of neighbours.

    python benchmarks/reduction.py [--turns 9]
"""

import argparse
import time
from typing import Any

import numpy as np
from data import load, standardised
from record import stamp, write
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from uulearn import UUClassifier, make_unlabeled_sets, risk
from uulearn.sets import match_sets

SHARES, PRIOR = (0.9, 0.4), 0.2
MODELS = {  # the model, the sizes of its sets, how many pairs of fits make a turn
    "HistGradientBoostingClassifier": (HistGradientBoostingClassifier(random_state=0), (40_000, 20_000), 1),
    "RandomForestClassifier": (
        RandomForestClassifier(30, min_samples_leaf=20, n_jobs=2, random_state=0),
        (40_000, 20_000),
        1,
    ),
    "LogisticRegression": (LogisticRegression(), (14_000, 6_000), 10),
}


def timed(fit: Any, *arguments: Any, **options: Any) -> float:
    began = time.perf_counter()
    fit(*arguments, **options)
    return time.perf_counter() - began


def main(turns: int) -> None:
    X, y = load("covertype")
    X = standardised(X)
    summaries = []
    for name, (model, sizes, pairs_a_turn) in MODELS.items():
        rows, sets, _ = make_unlabeled_sets(X, y, SHARES, sizes, random_state=0)
        columns = risk.row_weights(match_sets(sets, SHARES, PRIOR))
        pull = columns.plus - columns.minus
        label, weight = (pull > 0).astype(int), np.abs(pull) * len(pull) / np.abs(pull).sum()
        ours = UUClassifier(model, set_priors=SHARES, prior=PRIOR, calibrate=False)
        pairs = []
        for turn in range(turns * pairs_a_turn + 1):
            pair = {}
            for contender in ("wrapped", "bare") if turn % 2 else ("bare", "wrapped"):
                if contender == "wrapped":
                    pair[contender] = timed(ours.fit, rows, sets)
                else:
                    pair[contender] = timed(clone(model).fit, rows, label, sample_weight=weight)
            pairs.append((pair["wrapped"], pair["bare"]))
        wrapped, bare = np.array(pairs[1:]).T  # the first pair warms up
        summary = {
            "figure": "reduction",
            "model": name,
            "sizes": sizes,
            "seed": 0,
            "wrapped_seconds": wrapped.round(4).tolist(),
            "bare_seconds": bare.round(4).tolist(),
            "ratio_median": round(float(np.median(wrapped / bare)), 4),
            "ratio_best": round(float(wrapped.min() / bare.min()), 4),
            **stamp(),
        }
        summaries.append(summary)
        print(summary, flush=True)
    write("reduction", summaries)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=9)
    main(parser.parse_args().turns)
