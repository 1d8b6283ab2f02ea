"""Which classifier is best, and what if the priors are wrong: questions answered without labels.

`UUSearch` and `sensitivity` are imported from `uulearn` itself.
"""

from uulearn.selection.learning import LearningCurve, learning_curve
from uulearn.selection.rules import RULES, Ranking, rank, rank_sets
from uulearn.selection.scoring import choose_near, likelihood_score, search_scores
from uulearn.selection.wrong_priors import Sensitivity

__all__ = [
    "RULES",
    "LearningCurve",
    "Ranking",
    "Sensitivity",
    "choose_near",
    "learning_curve",
    "likelihood_score",
    "rank",
    "rank_sets",
    "search_scores",
]
