"""How good a classifier is on unlabeled rows, with error bars and without a label.

Everything rests on one fact: for any function h of a row, the coefficients of the risk turn its set means m_k into
its class means, ``E_P[h] = sum_k (a_k / pi) m_k`` and ``E_N[h] = sum_k (b_k / (1 - pi)) m_k``. Rates are such means,
most other metrics are functions of rates, and the AUC is a mean over pairs of rows.
"""

from uulearn.metrics.calibration import CalibrationCurve, calibration_curve
from uulearn.metrics.curves import Curve, precision_recall_curve, roc_curve
from uulearn.metrics.definitions import NAMES
from uulearn.metrics.differences import compare, error, error_difference
from uulearn.metrics.estimates import Contradiction, Estimate, Report
from uulearn.metrics.evaluation import evaluate, evaluate_sets
from uulearn.metrics.histograms import ScoreHistogram, score_histogram
from uulearn.metrics.linearity import Linearity, check_linearity
from uulearn.metrics.scorers import scorer

__all__ = [
    "NAMES",
    "CalibrationCurve",
    "Contradiction",
    "Curve",
    "Estimate",
    "Linearity",
    "Report",
    "ScoreHistogram",
    "calibration_curve",
    "check_linearity",
    "compare",
    "error",
    "error_difference",
    "evaluate",
    "evaluate_sets",
    "precision_recall_curve",
    "roc_curve",
    "score_histogram",
    "scorer",
]
