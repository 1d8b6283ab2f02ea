"""What an estimate is."""

import copy
import pickle

import numpy as np
import pytest

from uulearn import Priors
from uulearn.estimation import SetPriors, TargetPrior

FOUND = SetPriors(
    {"A": 0.7, "B": 0.2}, {"A": (0.6, 0.8), "B": (0.1, 0.3)}, np.diag([0.0025, 0.0016]), "likelihood", (0.375, 0.286)
)


def test_is_a_mapping():
    """It reads as {set label: share}, and priors take it."""
    assert dict(FOUND) == {"A": 0.7, "B": 0.2}
    assert FOUND.standard_errors == pytest.approx({"A": 0.05, "B": 0.04})
    assert Priors(FOUND, prior=0.5).shares.tolist() == [0.7, 0.2]
    assert FOUND == {"A": 0.7, "B": 0.2}


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_can_be_copied(again):
    """Copies and pickles say the same."""
    assert repr(again(FOUND)) == repr(FOUND)
    assert again(FOUND) == FOUND


def test_cannot_be_changed():
    """An estimate stays what it was."""
    with pytest.raises(AttributeError):
        FOUND.method = "labels"
    with pytest.raises(TypeError):
        FOUND["A"] = 0.5


def test_target_prior():
    """The value serves as a prior; the estimate before clipping is kept."""
    found = TargetPrior(0.0, 0.01, 0.0, 0.01, unclipped=-0.01, method="means")
    assert float(found) == 0.0
    assert "interval 0.0000 to 0.0100" in str(found)
