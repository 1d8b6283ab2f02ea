"""Set priors from a few labels."""

import numpy as np
import pytest
from scipy.stats import binom

from uulearn import Priors, priors_from_labels

Y, LABELS = np.repeat(["A", "B"], [40, 60]), np.r_[np.arange(40) < 30, np.arange(60) < 12].astype(int)


def test_counts():
    """Shares are counted, standard errors follow the number of labels, and any set may come first."""
    found = priors_from_labels(Y, LABELS)
    assert dict(found) == {"A": 0.75, "B": 0.2}
    order = np.random.default_rng(0).permutation(100)
    assert dict(priors_from_labels(Y[order], LABELS[order])) == dict(found)
    assert Priors(found, prior=0.5).theta == 0.75
    assert found.kappas is None


def test_positive():
    """Any label may be the positive one."""
    words = np.where(LABELS == 1, "spam", "ham")
    assert dict(priors_from_labels(Y, words, positive="spam")) == {"A": 0.75, "B": 0.2}


def test_no_error_is_zero():
    """A set without a negative among its labels is not known for sure."""
    found = priors_from_labels(Y, (Y == "A").astype(int))
    assert found["A"] == 1
    assert found.intervals["A"][0] < 1
    assert min(found.standard_errors.values()) > 0


@pytest.mark.parametrize(("interval", "least"), [("wilson", 0.93), ("exact", 0.95)])
def test_coverage(interval, least):
    """Averaged over all counts, intervals of 100 labels cover as promised; those of "exact" at every share."""
    counts = np.arange(101)
    ends = [
        priors_from_labels(
            ["A"] * 100 + ["B"] * 100, [1] * k + [0] * (100 - k) + [1] * 50 + [0] * 50, interval=interval
        ).intervals["A"]
        for k in counts
    ]
    for share in (0.1, 0.37, 0.7, 0.95):
        covering = [low <= share <= high for low, high in ends]
        assert binom.pmf(counts, 100, share) @ covering >= least - (0.0 if interval == "exact" else 0.005)


REFUSALS = {
    "lengths": ((Y, LABELS[:-1]), {}, r"labels must give the class of each row that y names the set of; got shapes"),
    "one class": ((Y, np.zeros(100)), {}, r"labels must hold two classes, one of them positive=1; got \[0\.0\]\. Say"),
    "wrong class": ((Y, LABELS), {"positive": "yes"}, r"one of them positive='yes'; got \[0, 1\]\. Say which class is"),
    "one set": ((["A"] * 100, LABELS), {}, r"y must name at least two sets; got \['A'\]\. Label rows of a second set"),
    "interval": ((Y, LABELS), {"interval": "wald"}, r"interval must be one of 'wilson', 'exact'; got 'wald'"),
    "confidence": ((Y, LABELS), {"confidence": 95}, r"confidence must be a number in \(0, 1\); got 95"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    """Each refusal names the argument, the rule, the value and a way out."""
    given, options, words = REFUSALS[case]
    with pytest.raises(ValueError, match=words):
        priors_from_labels(*given, **options)


@pytest.mark.parametrize(
    ("y", "labels", "name"),
    [(["A", "A", "B"], [1, np.nan, 1], "labels"), ([0, 1, np.nan], [1, 0, 1], "y"), (["A", None, "B"], [1, 0, 1], "y")],
)
def test_missing_names_are_refused(y, labels, name):
    """A row without a label is not a negative one."""
    with pytest.raises(ValueError, match=f"{name} must name .* for every row; got NaN or None"):
        priors_from_labels(np.array(y, dtype=object if None in y else None), labels)
