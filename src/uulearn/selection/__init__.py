"""Which classifier is best, and what if the priors are wrong: questions about finished classifiers, without labels."""

from uulearn.selection.rules import RULES, Ranking, rank, rank_sets
from uulearn.selection.scoring import likelihood_score
from uulearn.selection.search import UUSearch
from uulearn.selection.wrong_priors import Sensitivity, sensitivity

__all__ = ["RULES", "Ranking", "Sensitivity", "UUSearch", "likelihood_score", "rank", "rank_sets", "sensitivity"]
