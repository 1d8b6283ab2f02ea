"""Every refusal, one row each: who refuses, with what kind of error, in which words.

A refusal names the argument, the rule, the value and a way out.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from uulearn import UUClassifier, UUKernelClassifier, UULinearClassifier, losses, metrics, theory
from uulearn.baselines import (
    BERClassifier,
    BERFCClassifier,
    BiasedClassifier,
    CCNClassifier,
    ProportionSVM,
    SupervisedClassifier,
    SurrogateSetClassifier,
    draw_labeled_rows,
    proportion_score,
)
from uulearn.priors import Priors, Uncertain
from uulearn.refinement import Steps, check_rounds, refine, split
from uulearn.risk import Columns, Risk, get_correction
from uulearn.sets import make_unlabeled_sets, match_sets, row_weight

TWO = Priors(0.9, 0.4, prior=0.3)
THREE = Priors(0.9, 0.4, 0.2, prior=0.3)
Y = [0, 0, 1, 1]
SETS = match_sets(Y, (0.9, 0.4), 0.3)
X10, Y10 = np.zeros((10, 1)), np.repeat([0, 1], 5)


def priors(*args, prior=0.3, **options):
    return lambda: Priors(*args, prior=prior, **options)


def matched(y=Y, set_priors=(0.9, 0.4), prior=0.3, sample_weight=None):
    return lambda: match_sets(y, set_priors, prior, sample_weight)


def draw(y=Y10, set_priors=(0.8, 0.4), sizes=(5, 5), **options):
    return lambda: make_unlabeled_sets(X10, y, set_priors, sizes, **options)


def evaluated(y=Y, **options):
    return lambda: metrics.evaluate(y, **{"set_priors": (0.9, 0.4), "prior": 0.3, **options})


def bound(rademacher=(0.1, 0.1), lipschitz=1, loss_bound=1, delta=0.05):
    return lambda: theory.error_bound(
        TWO, (10, 10), rademacher, lipschitz=lipschitz, loss_bound=loss_bound, delta=delta
    )


def no_step(*args):
    raise AssertionError("nothing is trained before the refusal")


def refined(sets, cv, groups=None):
    steps = Steps(no_step, no_step, no_step)
    return lambda: refine(steps, sets, "auto", lambda: split(sets, cv, groups, 0), scores_needed=True)


MAPPING_OR_SEQUENCE = (
    r"set_priors must be a mapping {set label: share of positives} or a sequence of shares in the order of the sorted "
    r"set labels; got "
)

PRIORS = {
    "sizes as text": (
        lambda: TWO.coefficients("ab"),
        TypeError,
        r"sizes must hold real numbers; got 'ab'\. Convert them, or drop",
    ),
    "one set": (
        priors(0.9),
        ValueError,
        r"set_priors must name at least two sets; got one, with share 0\.9\. .* \(Theorem 1\): it would need "
        r"theta = pi/\(2 pi - 1\), here -0\.75, which is no probability\. Bring a second set",
    ),
    "one set, prior 1/2": (
        priors([0.9], prior=0.5),
        ValueError,
        r"got one, with share 0\.9\. .* here undefined at pi = 1/2, which is no probability",
    ),
    "equal priors": (
        priors(0.4, 0.4),
        ValueError,
        r"set_priors must differ; got 0\.4 for both sets\. Sets with the same share of positives carry no information",
    ),
    "equal priors of many sets": (
        priors({"a": 0.4, "b": 0.4, "c": 0.4}),
        ValueError,
        r"set_priors must differ; got 0\.4 for all 3 sets\.",
    ),
    "set prior above 1": (
        priors({"a": 1.08, "b": 0.1}),
        ValueError,
        r"set_priors\['a'\] must be a number in \[0, 1\]; got 1\.08\. It is the share of positives among the rows of "
        r"the set: mend it, or give Priors\(\.\.\., allow_out_of_range=True\) to study wrong ones",
    ),
    "set prior below 0": (priors(0.9, -0.1), ValueError, r"set_priors\[1\] must be a number in \[0, 1\]; got -0\.1"),
    "set prior NaN": (priors(0.9, np.nan), ValueError, r"set_priors\[1\] must be a number in \[0, 1\]; got nan"),
    "infinite set prior": (
        priors(0.9, np.inf, allow_out_of_range=True),
        ValueError,
        r"set_priors\[1\] must be a number in \(-inf, inf\); got inf",
    ),
    "set prior not a number": (
        priors(0.9, True),
        TypeError,
        r"set_priors\[1\] must be a number in \[0, 1\]; got True of type bool",
    ),
    "prior 0": (
        priors(0.9, 0.4, prior=0),
        ValueError,
        r"prior must be a number in \(0, 1\); got 0\. It is the share of positives among the rows to be predicted; "
        r"were they all of one class, there would be nothing to learn\. Give a share between",
    ),
    "prior 1": (
        priors(0.9, 0.4, prior=1.0),
        ValueError,
        r"prior must be a number in \(0, 1\); got 1\.0\. .* of one class",
    ),
    "prior as a percentage": (priors(0.9, 0.4, prior=30), ValueError, r"prior must be a number in \(0, 1\); got 30"),
    "prior None": (
        priors(0.9, 0.4, prior=None),
        TypeError,
        r"prior must be a number in \(0, 1\); got None of type NoneType",
    ),
    "priors as text": (priors("0.9, 0.4"), TypeError, MAPPING_OR_SEQUENCE + r"'0\.9, 0\.4'"),
    "priors None": (priors(None), TypeError, MAPPING_OR_SEQUENCE + "None"),
    "priors in a Python set, which has no order": (priors({0.9}), TypeError, MAPPING_OR_SEQUENCE + r"{0\.9}"),
    "no priors": (priors(), TypeError, MAPPING_OR_SEQUENCE + r"\(\)"),
    "empty priors": (priors([]), TypeError, MAPPING_OR_SEQUENCE + r"\(\)"),
    "convex, prior beyond the sets": (
        priors(0.9, 0.4, convex=True),
        ValueError,
        r"convex=True needs prior between the smallest and the largest set prior; got prior=0\.3 and set priors from "
        r"0\.4 to 0\.9\. .* leave convex=False",
    ),
    **{
        f"{name} of three sets": (
            lambda name=name: getattr(THREE, name),
            ValueError,
            r"a, b, c, d, alpha, alpha_prime and constant are defined for two sets; these priors name 3\. Use "
            r"coefficients\(\) instead",
        )
        for name in ("a", "b", "c", "d", "alpha", "alpha_prime", "constant")
    },
    "sizes of other sets": (
        lambda: THREE.coefficients([10, 10]),
        ValueError,
        r"sizes must give a positive size for each of 3 sets; got \[10, 10\]\. .* leave it out of the priors",
    ),
    "empty set": (
        lambda: TWO.coefficients([10, 0]),
        ValueError,
        r"sizes must give a positive size for each of 2 sets; got \[10, 0\]\. A set without rows has no say",
    ),
}

LOSSES = {
    "unknown loss": (
        lambda: losses.get("logistik"),
        ValueError,
        r"loss must be one of 'sigmoid', .*'zero_one'; got 'logistik'\. Did you mean 'logistic'\?",
    ),
    "nothing like a loss": (
        lambda: losses.get(max),
        ValueError,
        r"loss must be one of 'sigmoid', .*'zero_one'; got <built-in function max>\.$",
    ),
    "loss that only scores": (
        lambda: losses.get("zero_one", trainable=True),
        ValueError,
        r"loss must have a derivative to train with; 'zero_one' only scores\. Use one of sigmoid, .*double_hinge\.$",
    ),
    "class of a loss": (
        lambda: Risk(Columns(np.ones(2), np.ones(2)), losses.Ramp),
        ValueError,
        r"loss must be one of 'sigmoid', .* got <class 'uulearn\.losses\.Ramp'>",
    ),
    "negative width": (lambda: losses.Ramp(-1), ValueError, r"width must be a number in \[0, inf\); got -1"),
}

CORRECTIONS = {
    "unknown correction": (
        lambda: get_correction("rlu"),
        ValueError,
        r"correction must be one of 'none', 'relu', 'abs', 'leaky'; got 'rlu'\. Did you mean 'relu'\?",
    ),
    "slope above 1": (
        lambda: get_correction(2),
        ValueError,
        r"correction \(slope below zero\) must be a number in \(-inf, 1\]; got 2",
    ),
    "no slope": (
        lambda: get_correction(None),
        TypeError,
        r"correction \(slope below zero\) must be a number in \(-inf, 1\]; got None of type NoneType",
    ),
    "infinite slope": (
        lambda: get_correction(-np.inf),
        ValueError,
        r"correction \(slope below zero\) must be a number in \(-inf, 1\]; got -inf",
    ),
}

MATCHING = {
    "weights as text": (
        matched(sample_weight=["x"] * 4),
        TypeError,
        r"sample_weight must hold real numbers; got \['x', 'x', 'x', 'x'\]\. Convert",
    ),
    "labels of two types": (
        matched(y=np.array(["a", 1, "a", 1], dtype=object)),
        TypeError,
        r"y must hold labels of one type; got int beside str\. Name all alike; drop",
    ),
    "rows without a label": (
        matched(y=np.array(["a", "b", "a", None], dtype=object)),
        TypeError,
        r"y must hold labels of one type; got NoneType beside str",
    ),
    "y of two columns": (
        matched(y=[[0, 1], [1, 0]]),
        ValueError,
        r"y must name the set of each row in one dimension; got an array of shape \(2, 2\)\. Pass one column",
    ),
    "y with NaN": (
        matched(y=[0, 1, np.nan]),
        ValueError,
        r"y must name the set of each row; Input y contains NaN or infinity\. Drop these rows or name their set",
    ),
    "no rows": (
        matched(y=[]),
        ValueError,
        r"y must name the set of at least one row of each set; got none\. Bring rows",
    ),
    "no weight": (
        matched(sample_weight=[0, 0, 0, 0]),
        ValueError,
        r"sample_weight must be positive for some rows; got zero weight for all of them\. Leave it out",
    ),
    "weights of other rows": (
        lambda: row_weight([1, 2], 4),
        ValueError,
        r"sample_weight must hold one weight a row: sample_weight\.shape == \(2,\), expected \(4,\)!",
    ),
    "negative weight": (
        matched(sample_weight=[1, 1, 1, -1]),
        ValueError,
        r"sample_weight must be finite and not negative; got values that are not\. Drop or mend these rows",
    ),
    "weight NaN": (
        matched(sample_weight=[1, 1, 1, np.nan]),
        ValueError,
        r"sample_weight must be finite and not negative; got values that are not\. Drop or mend these rows",
    ),
    "another target": (
        matched(set_priors=TWO, prior=0.5),
        ValueError,
        r"prior must be that of the Priors given as set_priors, 0\.3; got 0\.5\. Give the same number twice",
    ),
    "a number for set_priors": (matched(set_priors=0.9), TypeError, MAPPING_OR_SEQUENCE + r"0\.9"),
    "text for set_priors": (matched(set_priors="unknown"), TypeError, MAPPING_OR_SEQUENCE + "'unknown'"),
    "a Python set for set_priors": (matched(set_priors={0.9}), TypeError, MAPPING_OR_SEQUENCE + r"{0\.9}"),
    "set_priors None": (matched(set_priors=None), TypeError, MAPPING_OR_SEQUENCE + "None"),
    "rows of one set": (
        matched(y=["a", "a"]),
        ValueError,
        r"y must hold at least two sets; got one class of set label, 'a'\. .*\(Theorem 1.*Bring a second set",
    ),
    "set without a share": (
        matched(y=["a", "b", "c"], set_priors={"a": 0.9, "b": 0.4}),
        ValueError,
        r"set_priors must give a share for every set label in y; 'c' match none of 'a', 'b'\. Add the share",
    ),
    "share without a set": (
        matched(set_priors={0: 0.9, 1: 0.4, "c": 0.3}),
        ValueError,
        r"set_priors must name sets that have rows; 'c' have none in y .* Drop them from set_priors",
    ),
    "share of a set without weight": (
        matched(y=[0, 1, 2], set_priors={0: 0.9, 1: 0.4, 2: 0.3}, sample_weight=[1, 1, 0]),
        ValueError,
        r"set_priors must name sets that have rows; 2 have none in y \(or none of positive weight\)",
    ),
    "three sets, two shares": (
        matched(y=[0, 1, 2]),
        ValueError,
        r"Only binary classification is supported\. set_priors must give one share for each set; got 2 shares for 3 "
        r"set labels in y \(0, 1, 2\)\. Give one share for each, in this order, or a mapping",
    ),
    "labels for sets": (
        matched(y=np.arange(9), set_priors=(0.9, 0.4, 0.2)),
        ValueError,
        r"^set_priors must give one share for each set; got 3 shares for 9 set labels in y \(0, 1, 2, 3, 4, 5 and 3 "
        r"more\)\. Give one share for each",
    ),
}

DRAWING = {
    "classes in two columns": (
        draw(y=np.column_stack([Y10, Y10])),
        ValueError,
        r"y must hold the class of each row in one dimension; got an array of shape \(10, 2\)\. Pass one",
    ),
    "a class NaN": (
        draw(y=np.where(Y10, 1, np.nan)),
        ValueError,
        r"y must hold a class for every row to draw sets from; got NaN\. Drop these rows",
    ),
    "a class None": (
        draw(y=np.where(Y10, "sick", None)),
        TypeError,
        r"y must hold labels of one type; got NoneType beside str",
    ),
    "set names of two types": (
        draw(set_priors={"a": 0.8, 1: 0.4}, sizes={"a": 5, 1: 5}),
        TypeError,
        r"set_priors must name sets by scalars of one type, such as .*; got 'a', 1\. Name all alike",
    ),
    "set names of two parts": (
        draw(set_priors={("a", 1): 0.8, ("a", 2): 0.4}, sizes={("a", 1): 5, ("a", 2): 5}),
        TypeError,
        r"set_priors must name sets by scalars of one type, such as .*; got \('a', 1\), \('a', 2\)\. Name",
    ),
    "no set": (
        draw(set_priors=(), sizes=()),
        ValueError,
        r"set_priors must name at least one set to draw; got none\. Give a share",
    ),
    "seed as text": (
        draw(random_state="x"),
        ValueError,
        r"random_state must be a whole number of at least 0, a Generator, .*; got 'x'",
    ),
    "unknown counts": (
        draw(counts="exactly"),
        ValueError,
        r"counts must be one of 'exact', 'random'; got 'exactly'\. Did you mean 'exact'\?",
    ),
    "unknown overlap": (
        draw(overlap=True),
        ValueError,
        r"overlap must be one of 'raise', 'allow'; got True\.",
    ),
    "a mapping and a sequence": (
        draw(set_priors={"a": 0.8, "b": 0.4}),
        TypeError,
        r"set_priors and sizes must both be mappings or both be sequences; got one of each\. Name the sets in both",
    ),
    "one share": (
        draw(set_priors=0.8),
        TypeError,
        r"set_priors must be a mapping or a sequence with an entry for each set; got 0\.8\.",
    ),
    "one size": (
        draw(sizes=5),
        TypeError,
        r"sizes must be a mapping or a sequence with an entry for each set; got 5\. Two sets need two",
    ),
    "too few sizes": (
        draw(sizes=(5,)),
        ValueError,
        r"sizes must give one size for each of the sets 0, 1; got \(5,\)\. Name the same sets",
    ),
    "sizes of other sets": (
        draw(set_priors={"a": 0.8, "b": 0.4}, sizes={"a": 5, "c": 5}),
        ValueError,
        r"sizes must give one size for each of the sets 'a', 'b'; got {'a': 5, 'c': 5}\.",
    ),
    "size of half a row": (
        draw(sizes=(5, 2.5)),
        ValueError,
        r"sizes\[1\] must be a whole number of at least 1; got 2\.5",
    ),
    "size 0": (draw(sizes=(5, 0)), ValueError, r"sizes\[1\] must be a whole number of at least 1; got 0"),
    "share above 1": (
        draw(set_priors=(1.2, 0.4)),
        ValueError,
        r"set_priors\[0\] must be a number in \[0, 1\]; got 1\.2",
    ),
    "three classes": (
        draw(y=np.arange(10) % 3),
        ValueError,
        r"y must hold two classes to draw sets from; got 3: 0, 1, 2\. .* with y == label",
    ),
    "unknown positive": (
        draw(positive=7),
        ValueError,
        r"positive must be one of the classes in y, 0, 1; got 7\. Leave it out for the larger label",
    ),
    "missing rows": (
        draw(sizes=(10, 5)),
        ValueError,
        r"sizes and set_priors ask for 10 positive rows and y holds 5: 5 are missing\. Draw smaller sets, or allow "
        r"sets to share rows with overlap='allow'",
    ),
    "missing rows in one set": (
        draw(sizes=(10, 5), overlap="allow"),
        ValueError,
        r"sizes and set_priors ask for 8 positive rows in one set and y holds 5: no set holds a row twice\. "
        r"Draw smaller sets",
    ),
    "X and y of other lengths": (
        draw(y=[0, 1]),
        ValueError,
        r"Found input variables with inconsistent numbers of samples: \[10, 2\]",
    ),
}

METRICS = {
    "scores as text": (
        evaluated(scores=list("abcd")),
        TypeError,
        r"scores must hold real numbers; got \['a', 'b', 'c', 'd'\]\. Convert them",
    ),
    "complex scores": (
        evaluated(scores=np.full(400, 1j)[:4]),
        TypeError,
        r"scores must hold real numbers; got array\(\[0\.\+1\.j",
    ),
    "predictions as scores": (
        evaluated(scores=[True, False, True, False]),
        TypeError,
        r"scores must be decision values, cut at 0; got booleans\. Pass them as proba",
    ),
    "predictions of classes as scores": (
        evaluated(scores=[1, 0, 1, 0]),
        TypeError,
        r"scores must be decision values, cut at 0; got zeros and ones\. Pass them as proba",
    ),
    "a group NaN": (
        evaluated(scores=np.ones(4), groups=[1, 2, 3, np.nan]),
        ValueError,
        r"groups must name the group of each row; got NaN\. Give a row",
    ),
    "groups of two types": (
        evaluated(scores=np.ones(4), groups=np.array(["a", None, "b", "c"], dtype=object)),
        TypeError,
        r"groups must hold names of one type; got names that cannot be ordered\. Name",
    ),
    "neither scores nor proba": (
        evaluated(),
        ValueError,
        r"give scores \(cut at 0\) or proba \(cut at 1/2\), or both; got neither",
    ),
    "an unknown metric": (
        evaluated(scores=np.ones(4), metrics="roc_auc"),
        ValueError,
        r"metrics must be one of 'error', .*; got 'roc_auc'",
    ),
    "no metric": (
        evaluated(scores=np.ones(4), metrics=()),
        ValueError,
        r"metrics must name at least one of 'error', .*; got none\. Leave it out",
    ),
    "a metric of probabilities without any": (
        evaluated(scores=np.ones(4), metrics=["brier"]),
        ValueError,
        r"metrics must be of scores where only scores are given; 'brier' needs probabilities\. Pass proba",
    ),
    "one cost": (
        evaluated(scores=np.ones(4), costs=5),
        TypeError,
        r"costs must be a pair \(of a false positive, of a false negative\); got 5\. Give both",
    ),
    "a negative cost": (
        evaluated(scores=np.ones(4), costs=(1, -1)),
        ValueError,
        r"costs\[1\] must be a number in \[0, inf\); got -1",
    ),
    "one resample": (
        evaluated(scores=np.ones(4), resamples=1),
        ValueError,
        r"resamples must be a whole number of at least 2; got 1",
    ),
    "resampled metrics compared": (
        lambda: metrics.compare(
            Y, np.ones(4) / 2, np.ones(4) / 2, set_priors=(0.9, 0.4), prior=0.3, metrics="average_precision"
        ),
        ValueError,
        r"metrics must have paired standard errors to be compared; 'average_precision' has none\. Evaluate each",
    ),
    "linearity of two sets": (
        lambda: metrics.check_linearity(Y, np.ones(4), set_priors=(0.9, 0.4)),
        ValueError,
        r"set_priors must name at least three sets to check linearity; got 2\. Two means always lie on a line",
    ),
    "linearity of scores of other rows": (
        lambda: metrics.check_linearity([0, 1, 2, 1], np.ones(3), set_priors=(0.9, 0.4, 0.2)),
        ValueError,
        r"scores and y must have the same length; got 3 scores for 4 rows",
    ),
    "linearity of NaN": (
        lambda: metrics.check_linearity([0, 1, 2], [1, np.nan, 2], set_priors=(0.9, 0.4, 0.2)),
        ValueError,
        r"scores must be one or more finite numbers a row; got an array of shape \(3, 1\) with NaN or infinity",
    ),
    "an unknown scorer": (
        lambda: metrics.scorer("acuracy"),
        ValueError,
        r"metric must be one of 'error', .*; got 'acuracy'",
    ),
    "a scorer of costs without any": (
        lambda: metrics.scorer("cost"),
        ValueError,
        r"scorer\('cost'\) needs costs; got None\. costs belongs to scorer\('cost'\)",
    ),
    "a scorer with costs it has no use for": (
        lambda: metrics.scorer("auc", costs=(1, 5)),
        ValueError,
        r"scorer\('auc'\) takes no costs; got \(1, 5\)\. costs belongs to scorer\('cost'\)",
    ),
    "a scorer of another kind of classifier": (
        lambda: metrics.scorer("auc")(LogisticRegression(), X10, Y10),
        TypeError,
        r"scorer\('auc'\) must be given a classifier trained from unlabeled sets .*; got LogisticRegression\. Score",
    ),
    "an uncertain share of negative error": (
        lambda: Uncertain(0.9, -0.1),
        ValueError,
        r"standard_error must be a number in \[0, inf\); got -0\.1",
    ),
    "an interval upside down": (
        lambda: Uncertain.between(0.9, 0.8),
        ValueError,
        r"low must be a number in \[-inf, 0\.8\]; got 0\.9\. Give the ends of the interval in order",
    ),
    "scores of other rows": (
        evaluated(scores=np.ones(3)),
        ValueError,
        r"scores and y must have the same length; got 3 scores for 4 rows\. Score the rows that y names",
    ),
    "probabilities of other rows": (
        evaluated(proba=np.ones((3, 2))),
        ValueError,
        r"proba and y must have the same length; got 3 proba for 4 rows",
    ),
    "scores of three classes": (
        evaluated(scores=np.ones((4, 3))),
        ValueError,
        r"scores must hold one number a row; got an array of shape \(4, 3\)\. Pass the column of the positive class",
    ),
    "probabilities of three classes": (
        evaluated(proba=np.ones((4, 3))),
        ValueError,
        r"proba must hold one number a row; got an array of shape \(4, 3\)",
    ),
    "score NaN": (
        evaluated(scores=[1, 2, np.nan, 3]),
        ValueError,
        r"scores must be finite; got NaN or infinity\. Drop these rows or mend the model",
    ),
    "scores as probabilities": (
        evaluated(proba=[0.5, -2, 3, 1]),
        ValueError,
        r"proba must lie in \[0, 1\]; got values from -2 to 3\. Pass decision values as scores",
    ),
    "groups of other rows": (
        evaluated(scores=np.ones(4), groups=[1, 2]),
        ValueError,
        r"groups must name the group of each of 4 rows; got an array of shape \(2,\)\. .* a group of its own",
    ),
    "confidence in percent": (
        evaluated(scores=np.ones(4), confidence=95),
        ValueError,
        r"confidence must be a number in \(0, 1\); got 95",
    ),
    "unknown metric": (
        lambda: evaluated(scores=np.ones(4))().accuracy,
        AttributeError,
        r"this report has no 'accuracy'; it has error, balanced_error, .*auc",
    ),
}

THEORY = {
    "complexity as text": (
        bound(rademacher=("a", "b")),
        TypeError,
        r"rademacher must hold real numbers; got \('a', 'b'\)",
    ),
    "complexity NaN": (
        bound(rademacher=(np.nan, 0.1)),
        ValueError,
        r"rademacher must give one number of at least 0 for each set; got \(nan, 0\.1\)",
    ),
    "one rate": (
        lambda: theory.risk_variance(TWO, (10, 10), 0.5),
        TypeError,
        r"rates must be a pair \(true positive rate, false positive rate\); got 0\.5",
    ),
    "three rates": (
        lambda: theory.risk_variance(TWO, (10, 10), (0.5, 0.5, 0.5)),
        TypeError,
        r"rates must be a pair .* got \(0\.5, 0\.5, 0\.5\)",
    ),
    "a number for split": (
        lambda: theory.plan(TWO, 0.01, split=2),
        ValueError,
        r"split must be 'best', 'equal' or a positive number for each of 2 sets; got 2\. Leave it out for the split",
    ),
    "split without a set": (
        lambda: theory.plan(TWO, 0.01, split=(1, 0)),
        ValueError,
        r"split must be 'best', 'equal' or a positive number for each of 2 sets; got \(1, 0\)",
    ),
    "a split by an unknown name": (
        lambda: theory.plan(TWO, 0.01, split="neyman"),
        ValueError,
        r"split must be 'best', 'equal' or a positive number for each of 2 sets; got 'neyman'",
    ),
    "a plan for an unknown metric": (
        lambda: theory.plan(TWO, 0.01, metric="auc"),
        ValueError,
        r"metric must be one of 'error', .*; got 'auc'",
    ),
    "a plan for F1 without rates": (
        lambda: theory.plan(TWO, 0.01, metric="f1"),
        ValueError,
        r"rates must be given for metric='f1', .* slopes depend on them; got None\. Give the true and the false",
    ),
    "a plan for the precision of nothing": (
        lambda: theory.plan(TWO, 0.01, metric="precision", rates=(0, 0)),
        ValueError,
        r"rates must be given for metric='precision', with some rows predicted positive, .*; got \(0, 0\)",
    ),
    "no priors": (
        lambda: theory.plan((0.9, 0.4), 0.01),
        TypeError,
        r"priors must be a Priors, such as .*; got \(0\.9, 0\.4\)\. Make one",
    ),
    "next to no error": (
        lambda: theory.plan(TWO, 1e-200),
        ValueError,
        r"standard_error must be within reach of some number of rows; got 1e-200",
    ),
    "certain bound": (bound(delta=0), ValueError, r"delta must be a number in \(0, 1\); got 0"),
    "complexity of one set": (
        bound(rademacher=(0.1,)),
        ValueError,
        r"rademacher must give one number of at least 0 for each set; got \(0\.1,\)\. A linear model's is at most",
    ),
    "negative complexity": (
        bound(rademacher=(0.1, -0.1)),
        ValueError,
        r"rademacher must give one number of at least 0 for each set; got \(0\.1, -0\.1\)",
    ),
    "negative Lipschitz constant": (
        bound(lipschitz=-1),
        ValueError,
        r"lipschitz must be a number in \[0, inf\); got -1",
    ),
    "unbounded loss": (
        bound(loss_bound=np.inf),
        ValueError,
        r"loss_bound must be a number in \[0, inf\); got inf",
    ),
    "no error at all": (
        lambda: theory.plan(TWO, 0),
        ValueError,
        r"standard_error must be a number in \(0, inf\); got 0",
    ),
    "rate in percent": (
        lambda: theory.risk_variance(TWO, (10, 10), (90, 10)),
        ValueError,
        r"rates\[0\] must be a number in \[0, 1\]; got 90",
    ),
    "sizes of one set": (
        lambda: theory.risk_variance(TWO, (10,)),
        ValueError,
        r"sizes must give a positive size for each of 2 sets; got \(10,\)",
    ),
}

REFINEMENT = {
    **{
        f"rounds {rounds!r}": (
            lambda rounds=rounds: check_rounds(rounds),
            ValueError,
            rf'refine \(rounds, or "auto"\) must be a whole number of at least 0; got {rounds!r}',
        )
        for rounds in (-1, 1.5, True, "yes", None)
    },
    "one fold": (
        lambda: split(SETS, 1, None, 0),
        ValueError,
        r"cv must be a whole number of at least 2; got 1",
    ),
    "folds as text": (
        lambda: split(SETS, "5", None, 0),
        ValueError,
        r"cv must be a whole number of at least 2; got '5'",
    ),
    "too few folds to hold one out": (
        refined(match_sets([0, 0, 0, 1, 1, 1], (0.9, 0.4), 0.3), cv=2),
        ValueError,
        r"cv must give at least 3 folds for refine='auto'; got 2\. Use cv=3 or more",
    ),
    "too few rows to hold one out": (
        refined(SETS, cv=5),
        ValueError,
        r"refine='auto' needs at least 3 rows in every set; the smallest has 2\. Bring more rows, or give refine as a "
        r"number of rounds",
    ),
    "a set of one row": (
        lambda: split(match_sets([0, 0, 0, 1], (0.9, 0.4), 0.3), 2, None, 0),
        ValueError,
        r"cross-fitting .* needs at least 2 rows in every set; the smallest has 1\. Bring more rows, or use refine=0",
    ),
    "a set of one group": (
        lambda: split(match_sets([0, 0, 0, 1, 1], (0.9, 0.4), 0.3), 5, [0, 1, 2, 3, 3], 0),
        ValueError,
        r"groups must be at least 2 in every set, .* set 1 has 1\. Use smaller groups",
    ),
    "too few groups to hold one out": (
        refined(match_sets(np.arange(12) % 2, (0.9, 0.4), 0.3), cv=5, groups=np.arange(12) // 6),
        ValueError,
        r"cv must give at least 3 folds for refine='auto'; got 2\. Use cv=3 or more, and groups of which every",
    ),
    "folds that leave rows out": (
        lambda: split(SETS, [(np.array([0, 2]), np.array([1, 3])), (np.array([1, 2]), np.array([3]))], None, 0),
        ValueError,
        r"cv must test every row exactly once: .* got 2 rows in no fold and 1 in several\. Use a KFold-like splitter",
    ),
}

ROWS, NAMES = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 0, 0, 1, 1, 1])


def trained(make=UULinearClassifier, X=ROWS, y=NAMES, groups=None, **options):
    return lambda: make(**{"set_priors": (0.9, 0.4), "prior": 0.3, **options}).fit(X, y, groups=groups)


def then(method, *arguments):
    return lambda: getattr(trained()(), method)(*arguments)


HOLED = np.where(ROWS[0, 0] == ROWS, np.nan, ROWS)
ESTIMATORS = {
    "no X": (
        trained(lambda **options: UUClassifier(LogisticRegression(), **options), X=None),
        ValueError,
        r"X must have rows and columns; Expected 2D array, got None instead",
    ),
    "classes of two types": (
        trained(classes=(0, "yes")),
        ValueError,
        r"classes must be a pair .* of two different labels of one type; got \(0, 'yes'\)",
    ),
    "groups of other rows": (
        trained(refine=1, cv=2, groups=[1, 2]),
        ValueError,
        r"groups must name the group of each of 6 rows; got an array of shape \(2,\)",
    ),
    "degree as text": (
        trained(UUKernelClassifier, kernel="poly", degree="3"),
        ValueError,
        r"degree must be a whole number of at least 1; got '3'",
    ),
    "coef0 NaN": (
        trained(UUKernelClassifier, kernel="poly", coef0=np.nan),
        ValueError,
        r"coef0 must be a number in \(-inf, inf\); got nan",
    ),
    "a kernel NaN": (
        trained(UUKernelClassifier, kernel=lambda A, B: np.full((len(A), len(B)), np.nan)),
        ValueError,
        r"kernel must give finite numbers; got NaN or infinity\. Standardise",
    ),
    "distances of nothing": (
        trained(UUKernelClassifier, X=1e-200 * ROWS),
        ValueError,
        r"gamma='median' needs rows at distances that can be squared; got a squared median of 0",
    ),
    "squares that overflow": (
        trained(X=1e200 * ROWS),
        ValueError,
        r"X must hold numbers whose squares can be summed in float64; these overflow\. Standardise",
    ),
    "equal priors": (trained(set_priors=(0.4, 0.4)), ValueError, r"set_priors must differ; got 0\.4 for both sets"),
    "missing priors": (trained(set_priors=None), TypeError, r"set_priors must be a mapping"),
    "unknown priors": (
        trained(set_priors="unknown"),
        ValueError,
        r"prior must be None .* got 0\.3\. Give both or neither",
    ),
    "one set": (trained(y=np.zeros(6)), ValueError, r"y must hold at least two sets; got one class of set label"),
    "three sets": (trained(y=np.array([0, 0, 2, 1, 1, 1])), ValueError, r"Only binary classification is supported"),
    "no y": (trained(y=None), ValueError, r"y names the set each row came from"),
    "rows and names": (trained(y=NAMES[:5]), ValueError, r"X and y must have the same number of rows; got 6 and 5"),
    "NaN in X": (trained(X=HOLED), ValueError, r"Input X contains NaN"),
    "inf in X": (trained(X=np.where(ROWS > 3, np.inf, ROWS)), ValueError, r"Input X contains infinity"),
    "NaN in y": (trained(y=np.array([0, 0, 0, 1, 1, np.nan])), ValueError, r"Input y contains NaN"),
    "loss": (trained(loss="logstic"), ValueError, r"loss must be one of .* Did you mean 'logistic'\?"),
    "scoring loss": (trained(loss="zero_one"), ValueError, r"'zero_one' only scores\. Use one of"),
    "correction": (trained(correction="rleu"), ValueError, r"correction must be one of .* Did you mean 'relu'\?"),
    "C": (trained(C=0), ValueError, r"C must be a number in \(0, inf\]; got 0"),
    "tol": (trained(tol=-1), ValueError, r"tol must be a number in \(0, inf\]; got -1"),
    "max_iter": (trained(max_iter=0), ValueError, r"max_iter must be a whole number of at least 1; got 0"),
    "refine": (trained(refine=-1), ValueError, r"refine \(rounds, or \"auto\"\) must be a whole number of at least 0"),
    "refine word": (trained(refine="automatic"), ValueError, r"refine .*got 'automatic'"),
    "cv": (trained(refine=1, cv=1), ValueError, r"cv must be a whole number of at least 2; got 1"),
    "two folds for auto": (
        trained(refine="auto", cv=2),
        ValueError,
        r"cv must give at least 3 folds for refine='auto'",
    ),
    "groups that are sets": (
        trained(refine=1, cv=2, groups=NAMES),
        ValueError,
        r"groups must be at least 2 in every set",
    ),
    "folds of one set": (
        trained(refine=1, cv=[(np.arange(3), np.arange(3, 6)), (np.arange(3, 6), np.arange(3))]),
        ValueError,
        r"rows of every set on both sides of each fold; got a fold without",
    ),
    "classes": (trained(classes=("yes", "yes")), ValueError, r"classes must be a pair \(negative, positive\)"),
    "convex out of reach": (
        trained(convex=True),
        ValueError,
        r"convex=True needs prior between the smallest and the largest",
    ),
    "kernel": (trained(UUKernelClassifier, kernel="rfb"), ValueError, r"kernel must be one of .* Did you mean 'rbf'\?"),
    "gamma": (trained(UUKernelClassifier, gamma="mean"), ValueError, r"gamma must be one of 'median'; got 'mean'"),
    "gamma of zero": (trained(UUKernelClassifier, gamma=0), ValueError, r"gamma must be a number in \(0, inf\); got 0"),
    "landmarks": (trained(UUKernelClassifier, n_components=0), ValueError, r"n_components .* at least 1; got 0"),
    "no square kernel": (
        trained(UUKernelClassifier, kernel="precomputed"),
        ValueError,
        r"X must be a square kernel matrix .* got shape \(6, 2\)",
    ),
    "kernel of another shape": (
        trained(UUKernelClassifier, kernel=lambda A, B: A),
        ValueError,
        r"kernel must return one row for each row .* expected",
    ),
    "feature count": (
        then("predict", ROWS[:, :1]),
        ValueError,
        r"X has 1 features, but UULinearClassifier is expecting 2",
    ),
    "unknown set at score": (
        then("score", ROWS, NAMES + 1),
        ValueError,
        r"y must name sets .* trained on, 0, 1; got 2",
    ),
    "one set at score": (
        then("score", ROWS[:3], NAMES[:3]),
        ValueError,
        r"y must hold rows of two sets or more .* got 0\. Bring",
    ),
}

ESTIMATORS |= {
    "rows at score": (
        then("score", ROWS, NAMES[:4]),
        ValueError,
        r"X and y must have the same number of rows; got 6 and 4",
    ),
    "no y at score": (then("score", ROWS, None), ValueError, r"y names the set each row came from"),
    "names of two types": (
        trained(y=np.array(["a", "a", "a", 1, 1, 1], dtype=object)),
        ValueError,
        r"set labels of one type; got strings",
    ),
    "names of a Priors": (
        trained(set_priors=Priors({0: 0.9, 1: 0.4}, prior=0.3), y=NAMES + 1),
        ValueError,
        r"2 match none of 0, 1",
    ),
    "folds that overlap": (
        trained(refine=1, cv=[(np.arange(6), np.arange(6))]),
        ValueError,
        r"cv must keep the train and test rows .* apart",
    ),
    "folds of numbers": (
        trained(refine=1, cv=[1, 2]),
        TypeError,
        r"cv must be .* or \(train, test\) pairs of row numbers; got \[1, 2\]",
    ),
    "an indefinite kernel": (
        trained(UUKernelClassifier, kernel=lambda A, B: -A @ B.T + 3 * np.eye(6)[: len(A), : len(B)]),
        ValueError,
        r"kernel must be positive semi-definite",
    ),
    "an indefinite kernel that its diagonal hides": (
        trained(
            UUKernelClassifier,
            X=np.kron(np.diag([1.0, 0, 0]), np.eye(2)) + np.kron(np.diag([0, 1.0, 1]), 1 - np.eye(2)),
            kernel="precomputed",
        ),
        ValueError,
        r"kernel must be positive semi-definite",
    ),
    "a recipe over the other route": (
        lambda: BiasedClassifier(
            UUClassifier(LogisticRegression(), set_priors=(0.9, 0.4), prior=0.3, route="unmix"),
            set_priors=(0.9, 0.4),
            prior=0.3,
        ).fit(ROWS, NAMES),
        ValueError,
        r"estimator must have route='weight'",
    ),
    "three sets without weights": (
        lambda: UUClassifier(KNeighborsClassifier(2), set_priors=(0.9, 0.4, 0.1), prior=0.3, route="unmix").fit(
            ROWS, np.array([0, 0, 1, 1, 2, 2])
        ),
        TypeError,
        r"over two sets needs an estimator whose fit takes sample_weight; KNeighborsClassifier's does not",
    ),
}


def compared(kind, X=ROWS, y=NAMES, sample_weight=None, **options):
    """A fit of a comparison method."""
    given = {"set_priors": (0.9, 0.4), "prior": 0.3, **options}
    return lambda: kind(**given).fit(X, y) if sample_weight is None else kind(**given).fit(X, y, sample_weight)


COMPARED = {
    "Um-SSC over trees": (
        compared(SurrogateSetClassifier, estimator=UUClassifier(set_priors=(0.9, 0.4), prior=0.3)),
        TypeError,
        r"estimator must minimise a loss by itself, which this recipe replaces; UUClassifier has none\. Use UULinear",
    ),
    "Um-SSC with a correction": (
        compared(
            SurrogateSetClassifier,
            estimator=UULinearClassifier(set_priors=(0.9, 0.4), prior=0.3, correction="abs"),
        ),
        ValueError,
        r"estimator must have correction='none': the cross-entropy .* no negative part to correct; got 'abs'",
    ),
    "Um-SSC without sets": (
        compared(SurrogateSetClassifier, y=None),
        ValueError,
        r"y names the set each row came from",
    ),
    "Um-SSC of one set": (
        compared(SurrogateSetClassifier, y=np.zeros(6)),
        ValueError,
        r"y must hold at least two sets",
    ),
    "a recipe over a stranger": (
        compared(BERFCClassifier, estimator=LogisticRegression()),
        TypeError,
        r"estimator must be a classifier of this library, .* got LogisticRegression\(\)\. Wrap a scikit-learn class",
    ),
    "a recipe over refinement": (
        compared(BERFCClassifier, estimator=UULinearClassifier(set_priors=(0.9, 0.4), prior=0.3, refine=1)),
        ValueError,
        r"estimator must have refine=0: refinement would replace the recipe's weights; got 1",
    ),
    "class-conditional noise of three sets": (
        compared(CCNClassifier, y=np.arange(6) % 3, set_priors=(0.9, 0.4, 0.1)),
        ValueError,
        r"set_priors must name two sets for class-conditional noise; got 3\. Use another method, such as UULinear",
    ),
    "reading of class-conditional noise": (
        compared(CCNClassifier, reading="pool"),
        ValueError,
        r"reading must be one of 'given', 'pooled'; got 'pool'\. Did you mean 'pooled'\?",
    ),
    "units of BER": (
        compared(BERClassifier, hidden=0),
        ValueError,
        r"hidden must be a whole number of at least 1; got 0",
    ),
    "C of BER": (compared(BERClassifier, C=0), ValueError, r"C must be a number in \(0, inf\]; got 0"),
    "tol of BER": (compared(BERClassifier, tol=-1), ValueError, r"tol must be a number in \(0, inf\]; got -1"),
    "steps of BER": (
        compared(BERClassifier, max_iter=0),
        ValueError,
        r"max_iter must be a whole number of at least 1; got 0",
    ),
    "NaN in BER": (compared(BERClassifier, X=HOLED), ValueError, r"Input X contains NaN"),
    "kernel of pSVM": (
        compared(ProportionSVM, kernel="rfb"),
        ValueError,
        r"kernel must be one of 'rbf', 'linear'; got 'rfb'\. Did you mean 'rbf'\?",
    ),
    "C of pSVM": (compared(ProportionSVM, C=0), ValueError, r"C must be a number in \(0, inf\); got 0"),
    "C_p of pSVM": (compared(ProportionSVM, C_p=np.inf), ValueError, r"C_p must be a number in \(0, inf\); got inf"),
    "gamma of pSVM": (compared(ProportionSVM, gamma="auto"), ValueError, r"gamma must be one of 'scale'; got 'auto'"),
    "gamma of pSVM below 0": (
        compared(ProportionSVM, gamma=-1),
        ValueError,
        r"gamma must be a number in \(0, inf\); got -1",
    ),
    "starts of pSVM": (
        compared(ProportionSVM, n_init=0),
        ValueError,
        r"n_init must be a whole number of at least 1; got 0",
    ),
    "turns of pSVM": (
        compared(ProportionSVM, max_iter=0),
        ValueError,
        r"max_iter must be a whole number of at least 1; got 0",
    ),
    "weights of pSVM": (
        compared(ProportionSVM, sample_weight=[1, 1, 1, 1, 1, 2]),
        ValueError,
        r"sample_weight must be the same for all rows, as the share of a bag counts rows; got 1 to 2\. Leave it out",
    ),
    "a moved target": (
        lambda: (
            clone(BERClassifier(set_priors=(0.9, 0.4), prior=0.3, hidden=2))
            .set_params(prior=0.2)
            .fit(ROWS, NAMES)
            .score(ROWS, NAMES)
        ),
        ValueError,
        r"score must compare classifiers on one target; 'prior' was changed",
    ),
    "shares before fit": (
        lambda: proportion_score(ProportionSVM(set_priors=(0.9, 0.4), prior=0.3), ROWS, NAMES),
        NotFittedError,
        r"This ProportionSVM instance is not fitted yet",
    ),
    "shares of unknown bags": (
        lambda: proportion_score(compared(BERFCClassifier)(), ROWS, NAMES + 1),
        ValueError,
        r"y must name sets .* trained on, 0, 1; got 2",
    ),
    "three classes with labels": (
        lambda: SupervisedClassifier(prior=0.3).fit(ROWS, np.arange(6) % 3),
        ValueError,
        r"Only binary classification is supported",
    ),
    "a share of labelled rows": (
        lambda: draw_labeled_rows(X10, Y10, 0.3, share=0),
        ValueError,
        r"share must be a number in \(0, 1\]; got 0",
    ),
    "labelled rows of one class": (
        lambda: draw_labeled_rows(X10, Y10, 1.0),
        ValueError,
        r"prior must be a number in \(0, 1\); got 1\.0",
    ),
    "too few labelled rows": (
        lambda: draw_labeled_rows(X10, Y10, 0.1, share=0.4),
        ValueError,
        r"share and prior must ask for a row of either class; got share=0\.4 and prior=0\.1, 0 of 4 rows positive\. Dr",
    ),
    "more labelled positives than there are": (
        lambda: draw_labeled_rows(X10, Y10, 0.9, share=1),
        ValueError,
        r"ask for 9 positive rows and y holds 5: 4 are missing\. Draw smaller sets",
    ),
}

TABLE = {
    f"{room}: {case}": row
    for room, rows in {
        "priors": PRIORS,
        "losses": LOSSES,
        "risk": CORRECTIONS,
        "sets": MATCHING,
        "draw": DRAWING,
        "metrics": METRICS,
        "theory": THEORY,
        "refinement": REFINEMENT,
        "estimators": ESTIMATORS,
        "comparison methods": COMPARED,
    }.items()
    for case, row in rows.items()
}


@pytest.mark.parametrize(("refused", "kind", "sentence"), TABLE.values(), ids=TABLE)
def test_refusal(refused, kind, sentence):
    """Bad input is refused in a sentence that says what is wrong and what to do."""
    with pytest.raises(kind, match=sentence):
        refused()
