"""Which classifier is best, and what if the priors are wrong: questions answered without labels.

`UUSearch` and `sensitivity` are imported from `uulearn` itself.
"""

from uulearn.selection.rules import RULES, Ranking, rank, rank_sets
from uulearn.selection.scoring import choose_near, likelihood_score, search_scores
from uulearn.selection.wrong_priors import Sensitivity

__all__ = ["RULES", "Ranking", "Sensitivity", "choose_near", "likelihood_score", "rank", "rank_sets", "search_scores"]
