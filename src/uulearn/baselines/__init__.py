"""The methods that the paper compares with, and the closest ones published since; recipes over the core where they can.

Non-negative UU (Lu et al. 2020) has no class of its own: it is `correction=` "relu", "abs" or "leaky" of
UULinearClassifier, UUKernelClassifier and UUNeuralClassifier.
"""

from uulearn.baselines.ber import BERClassifier, BERFCClassifier
from uulearn.baselines.biased import BiasedClassifier
from uulearn.baselines.ccn import CCNClassifier
from uulearn.baselines.psvm import ProportionSVM, proportion_score
from uulearn.baselines.supervised import SupervisedClassifier, draw_labeled_rows
from uulearn.baselines.surrogate import SurrogateSetClassifier

__all__ = [
    "BERClassifier",
    "BERFCClassifier",
    "BiasedClassifier",
    "CCNClassifier",
    "ProportionSVM",
    "SupervisedClassifier",
    "SurrogateSetClassifier",
    "draw_labeled_rows",
    "proportion_score",
]
