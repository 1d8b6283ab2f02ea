"""Calibration error of every estimator with default settings, and of other label-free calibrations of the same scores.

Ten draws of two unlabeled sets (4,000 + 2,000 rows, or what the data has) at three settings. Up to 5,000 other rows,
drawn with the target share of positives, keep their labels and only report: the calibration error over 15 bins of equal
mass, less what scores of the same values would show were they perfectly calibrated (labels drawn from the probabilities
themselves, 200 times). The target is an excess of .02 at most. Finished runs are kept; run again to go on.

    python benchmarks/label_free_calibration.py {develop|confirm|report} [--draws 10] [--methods METHOD ...]
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from data import folder, images, load, standardised
from record import append, read, stamp
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from uulearn import (
    CalibratedUUClassifier,
    UUClassifier,
    UUKernelClassifier,
    UULinearClassifier,
    UUNeuralClassifier,
    make_unlabeled_sets,
)
from uulearn.calibration import fit_link, fit_rising_link
from uulearn.refinement import split
from uulearn.risk import row_weights
from uulearn.sets import Sets, match_sets

NAME = "label_free_calibration"
SETTINGS = {
    "(.9, .4), pi .2": ((0.9, 0.4), 0.2),
    "(.7, .3), pi .3": ((0.7, 0.3), 0.3),
    "(.9, .1), pi .3": ((0.9, 0.1), 0.3),
}
SIZES, TEST_ROWS, LARGEST, BINS = (4000, 2000), 5000, 20_000, 15
DEVELOP, CONFIRM = ("pendigits", "letter", "covertype"), ("spambase", "usps", "fashion")
TARGET = 0.02


def whole(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised rows and classes; of large tables 20,000 rows, of Fashion-MNIST 10,000."""
    if data == "fashion":
        X, y = images(data)[:2]
        most = 10_000
    else:
        (X, y), most = load(data), LARGEST
    chosen = np.random.default_rng(0).permutation(len(y))[:most]
    return standardised(X[chosen].astype(float)), y[chosen]


def drawn(data: str, setting: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and their sets, test rows at the target prior and their classes."""
    X, y = whole(data)
    shares, prior = SETTINGS[setting]
    there = np.array([np.sum(y == 0), np.sum(y == 1)])
    wanted = np.array([[n - round(share * n), round(share * n)] for share, n in zip(shares, SIZES, strict=True)])
    # A fifth of the scarcer class stays for the test rows.
    shrunk = min(1.0, float(np.min(0.8 * there / wanted.sum(axis=0))))
    sizes = [int(shrunk * n) for n in SIZES]
    left = there - sum(
        np.array([n - round(share * n), round(share * n)]) for share, n in zip(shares, sizes, strict=True)
    )
    tested = int(min(TEST_ROWS, *(left / (1 - prior, prior) - 1)))
    rows, sets, indices = make_unlabeled_sets(X, y, (*shares, prior), (*sizes, tested), random_state=seed)
    trained = sets < 2
    return rows[trained], sets[trained], rows[~trained], y[indices[~trained]]


# ---- calibrations of the same out-of-fold scores: the library has the one that measured best ----------------


def platt(scores: np.ndarray, sets: Sets) -> Callable[[np.ndarray], np.ndarray]:
    """Two numbers through the likelihood of the set memberships."""
    link = fit_link(scores, sets)
    return lambda z: link.log_ratio(z) + logit(sets.priors.prior)


def scale_alone(scores: np.ndarray, sets: Sets) -> Callable[[np.ndarray], np.ndarray]:
    """One number: the sign of a score stays."""
    scale = fit_link(scores, sets, shift=float(-logit(sets.priors.prior))).scale
    return lambda z: scale * z


def rising(scores: np.ndarray, sets: Sets) -> Callable[[np.ndarray], np.ndarray]:
    """Eight pieces through the likelihood of the set memberships: what the library does."""
    link = fit_rising_link(scores, sets)
    return lambda z: link.log_ratio(z) + logit(sets.priors.prior)


def risk_platt(scores: np.ndarray, sets: Sets) -> Callable[[np.ndarray], np.ndarray]:
    """Two numbers under the unlabeled logistic risk."""
    plus, minus = row_weights(sets)
    unit = scores.std() or 1.0

    def objective(at: np.ndarray) -> tuple[float, np.ndarray]:
        g = at[0] * scores / unit + at[1]
        by_score = minus * expit(g) - plus * expit(-g)
        value = plus @ np.logaddexp(0, -g) + minus @ np.logaddexp(0, g)
        return value + 1e-6 * (at @ at), np.array([by_score @ scores / unit, by_score.sum()]) + 2e-6 * at

    scale, shift = minimize(objective, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=[(1e-3, 50), (-20, 20)]).x
    return lambda z: scale * z / unit + shift


def isotonic(scores: np.ndarray, sets: Sets) -> Callable[[np.ndarray], np.ndarray]:
    """The likeliest rising L of two sets: isotonic regression of the set on the score, inverted."""
    theta, theta_prime = sets.priors.theta, sets.priors.theta_prime
    rich = sets.share == theta
    odds = np.log(rich.sum() / np.sum(~rich))
    ends = np.exp(np.array([-1, 1]) * logit(0.999) - logit(sets.priors.prior))
    low, high = expit(odds + np.log((theta * ends + 1 - theta) / (theta_prime * ends + 1 - theta_prime)))
    fitted = IsotonicRegression(y_min=low, y_max=high, out_of_bounds="clip").fit(scores, rich)

    def log_odds(z: np.ndarray) -> np.ndarray:
        r = np.exp(logit(fitted.predict(z)) - odds)
        ratio = ((1 - theta_prime) * r - (1 - theta)) / (theta - theta_prime * r)
        return np.log(np.maximum(ratio, 1e-9)) + logit(sets.priors.prior)

    return log_odds


def risk_isotonic(scores: np.ndarray, sets: Sets) -> Callable[[np.ndarray], np.ndarray]:
    """Isotonic regression under the unlabeled squared risk, on 200 bins of rows whose weights must sum above 0."""
    plus, minus = row_weights(sets)
    parts = np.array_split(np.argsort(scores), 200)
    at, up, both = (
        np.array([f(part) for part in parts])
        for f in (
            lambda part: scores[part].mean(),
            lambda part: plus[part].sum(),
            lambda part: (plus + minus)[part].sum(),
        )
    )
    kept = both > 1e-9
    if kept.sum() < 2:
        return lambda z: np.full(len(z), logit(sets.priors.prior))
    fitted = IsotonicRegression(y_min=0.001, y_max=0.999, out_of_bounds="clip")
    fitted.fit(at[kept], up[kept] / both[kept], sample_weight=both[kept])
    return lambda z: logit(fitted.predict(z))


CALIBRATIONS = {
    "Platt, memberships": platt,
    "scale alone, memberships": scale_alone,
    "rising line, memberships": rising,
    "isotonic, memberships": isotonic,
    "Platt, unlabeled risk": risk_platt,
    "isotonic, unlabeled risk": risk_isotonic,
}


def methods(shares: tuple[float, float], prior: float, seed: int) -> dict[str, Any]:
    """Estimators with default settings but for what their name says."""
    here: dict[str, Any] = {"set_priors": shares, "prior": prior, "random_state": seed}
    logistic = LogisticRegression(max_iter=1000)
    return {
        "linear": UULinearClassifier(**here),
        "linear refined": UULinearClassifier(**here, refine="auto"),
        "kernel, 1000 landmarks": UUKernelClassifier(**here, n_components=1000),
        "trees weight": UUClassifier(**here),
        "trees unmix": UUClassifier(**here, route="unmix"),
        "trees weight refined": UUClassifier(**here, refine="auto"),
        "trees unmix refined": UUClassifier(**here, route="unmix", refine="auto"),
        "trees refined, wrapped": CalibratedUUClassifier(UUClassifier(**here, refine="auto"), random_state=seed),
        "logistic weight": UUClassifier(logistic, **here),
        "logistic unmix": UUClassifier(logistic, **here, route="unmix"),
        "networks": UUNeuralClassifier(**here, epochs=30, progress=False),
        "networks, wrapped": CalibratedUUClassifier(UUNeuralClassifier(**here, epochs=30, progress=False), cv=3),
    }


METHODS = list(methods((0.9, 0.4), 0.2, 0))
SCORED = ("linear", "trees weight", "trees unmix", "logistic weight", "logistic unmix")
"""Whose out-of-fold scores the calibrations are compared on."""


def calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Sum over bins of equal mass of abs(sum of p - positives), by the number of rows."""
    parts = np.array_split(np.argsort(p, kind="stable"), BINS)
    return float(sum(abs(p[part].sum() - y[part].sum()) for part in parts) / len(p))


def perfect_error(p: np.ndarray, seed: int, times: int = 200) -> float:
    """Mean calibration error of labels drawn from the probabilities."""
    rng = np.random.default_rng(seed)
    p = np.sort(p)
    return float(np.mean([calibration_error(p, rng.random(len(p)) < p) for _ in range(times)]))


def judged(p: np.ndarray, y: np.ndarray, seed: int) -> dict[str, float]:
    error, perfect = calibration_error(p, y), perfect_error(p, seed)
    inside = np.clip(p, 1e-3, 1 - 1e-3)
    return {
        "calibration_error": round(error, 5),
        "excess": round(error - perfect, 5),
        "error": round(float(np.mean((p > 0.5) != y)), 5),
        "log_loss": round(float(-np.mean(np.log(np.where(y == 1, inside, 1 - inside)))), 5),
    }


def one_run(data: str, setting: str, seed: int, name: str) -> Iterator[dict[str, Any]]:
    """The method as it is; where it calibrates itself, also without; and the calibrations of its scores."""
    rows, sets, test, truth = drawn(data, setting, seed)
    shares, prior = SETTINGS[setting]
    made = methods(shares, prior, seed)[name]
    here = {"data": data, "setting": setting, "seed": seed, "method": name}
    began = time.perf_counter()
    p = made.fit(rows, sets).predict_proba(test)[:, 1].astype(float)
    seconds = round(time.perf_counter() - began, 2)
    yield here | {"calibration": "default"} | judged(p, truth, seed) | {"seconds": seconds, **stamp()}
    if not getattr(made, "calibrate", False) or isinstance(made, CalibratedUUClassifier):
        return
    raw = clone(made).set_params(calibrate=False).fit(rows, sets)
    p, scores = raw.predict_proba(test)[:, 1], raw.decision_function(test)
    yield here | {"calibration": "none"} | judged(p, truth, seed) | stamp()
    if name not in SCORED:
        return
    matched, held_out = match_sets(sets, shares, prior), np.empty(len(rows))
    for kept, left in split(matched, 5, None, seed):
        held_out[left] = clone(raw).fit(rows[kept], sets[kept]).decision_function(rows[left])
    for kind, fit in CALIBRATIONS.items():
        p = expit(fit(held_out, matched)(scores))
        yield here | {"calibration": kind} | judged(p, truth, seed) | stamp()


def run(tables: tuple[str, ...], draws: int, names: list[str]) -> None:
    folder()
    done = {(row["data"], row["setting"], row["seed"], row["method"]) for row in read(NAME)}
    for seed in range(draws):
        for data in tables:
            for setting in SETTINGS:
                for name in names:
                    if (data, setting, seed, name) not in done:
                        append(NAME, list(one_run(data, setting, seed, name)))
                        print(data, setting, seed, name, flush=True)


def report() -> None:
    """Mean excess of each cell, and how the calibrations compare over all cells."""
    cells: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for row in read(NAME):
        kind = (row["method"], row["calibration"])
        cells.setdefault(kind, {}).setdefault(f"{row['data']} {row['setting']}", []).append(row)
    print("| method | calibration | draws | excess, mean | excess, worst cell | cells above .02 | error % | log loss |")
    print("|---|---|---|---|---|---|---|---|")
    for (method, kind), found in sorted(cells.items()):
        means = {key: [np.mean([row[key] for row in rows]) for rows in found.values()] for key in JUDGED}
        excess, draws = np.array(means["excess"]), {len(rows) for rows in found.values()}
        print(
            f"| {method} | {kind} | {min(draws)}-{max(draws)} | {excess.mean():.4f} | {excess.max():.4f} "
            f"({list(found)[int(excess.argmax())]}) | {np.sum(excess > TARGET)} of {len(excess)} "
            f"| {100 * np.mean(means['error']):.2f} | {np.mean(means['log_loss']):.4f} |"
        )


JUDGED = ("excess", "error", "log_loss")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("develop", "confirm", "report"))
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    options = parser.parse_args()
    if options.what != "report":
        run(DEVELOP if options.what == "develop" else CONFIRM, options.draws, options.methods)
    report()
