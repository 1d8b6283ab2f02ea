"""Pictures of what unlabeled rows say of a classifier: each is made of numbers that can be had without it."""

from uulearn.displays.calibration import CalibrationDisplay
from uulearn.displays.histogram import HistogramDisplay
from uulearn.displays.learning import LearningCurveDisplay
from uulearn.displays.priors import SensitivityDisplay
from uulearn.displays.ranking import PrecisionRecallDisplay, ROCDisplay

__all__ = [
    "CalibrationDisplay",
    "HistogramDisplay",
    "LearningCurveDisplay",
    "PrecisionRecallDisplay",
    "ROCDisplay",
    "SensitivityDisplay",
]
