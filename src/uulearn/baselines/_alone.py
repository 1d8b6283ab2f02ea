"""What comparison methods with a solver of their own share: they predict and score, and know no class probability."""

from typing import Any

from sklearn.utils.metaestimators import available_if

from uulearn.estimators._base import UnlabeledClassifier


def _no_probability(clf: Any) -> bool:
    raise AttributeError(
        f"predict_proba needs a method whose scores fix a class probability; those of {type(clf).__name__} do not. Use "
        "decision_function, or another classifier."
    )


class Alone(UnlabeledClassifier):
    """A classifier from unlabeled sets that is never refined and gives no probability."""

    refine, cv, classes = 0, 2, None
    _cross_fits_scale = False

    @available_if(_no_probability)
    def predict_proba(self, X: Any) -> Any:
        """Refused: see `decision_function`."""
        return super().predict_proba(X)
