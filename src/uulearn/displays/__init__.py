"""Pictures of what unlabeled rows say of a classifier: each is made of numbers that `uulearn.metrics` gives too."""

from uulearn.displays.calibration import CalibrationDisplay
from uulearn.displays.histogram import HistogramDisplay
from uulearn.displays.ranking import PrecisionRecallDisplay, ROCDisplay

__all__ = ["CalibrationDisplay", "HistogramDisplay", "PrecisionRecallDisplay", "ROCDisplay"]
