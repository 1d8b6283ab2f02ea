"""Which classifier is best, and what if the priors are wrong: questions about finished classifiers, without labels."""

from uulearn.selection.rules import RULES, Ranking, rank, rank_sets
from uulearn.selection.scoring import choose_near, likelihood_score, search_scores
from uulearn.selection.search import UUSearch
from uulearn.selection.wrong_priors import Sensitivity, sensitivity

__all__ = [
    "RULES",
    "Ranking",
    "Sensitivity",
    "UUSearch",
    "choose_near",
    "likelihood_score",
    "rank",
    "rank_sets",
    "search_scores",
    "sensitivity",
]
