"""Every refusal of networks, one row each: with what kind of error, in which words."""

import tempfile
from functools import partial

import numpy as np
import pytest
from torch import nn, ones, zeros
from torch.utils.data import TensorDataset

from uulearn import UUNeuralClassifier
from uulearn.nn.recipes import Recipe

ROWS, NAMES = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 0, 0, 1, 1, 1])


def network(module=None, X=ROWS, y=NAMES, test=None, **options):
    """A fit of one epoch."""
    module = module or (lambda shape: nn.Linear(shape[0], 1))
    clf = UUNeuralClassifier(module, **{"set_priors": (0.9, 0.4), "prior": 0.3, "epochs": 1, **options})
    return clf.fit(X, y, test=test)


def networks(*arguments, **options):
    return partial(network, *arguments, **options)


def resumed():
    with tempfile.TemporaryDirectory() as folder:
        network(checkpoint=folder, random_state=0)
        network(checkpoint=folder, random_state=1)


TABLE = {
    "unknown module": (
        networks("resnet"),
        ValueError,
        r"module must be one of 'mlp', 'allconv', 'resnet32'; got 'resnet'\. Did you mean 'resnet32'\?",
    ),
    "no module": (networks(7), TypeError, r"module must be one of .*, a torch module, or a callable .* got 7"),
    "a module for other rows": (
        networks(nn.Linear(5, 1)),
        ValueError,
        r"module must score rows of shape \(2,\); it failed on two rows of zeros.* Give a module made for this shape",
    ),
    "images that are no square": (
        networks("resnet32"),
        ValueError,
        r"X must hold square images of 3 channels or 1 for module='resnet32'; got rows of shape \(2,\)\. Give "
        r"image_shape=\(channels, height, width\)",
    ),
    "a number for image_shape": (
        networks(image_shape=28),
        TypeError,
        r"image_shape must be a sequence \(channels, height, width\); got 28\. Leave it out",
    ),
    "image_shape of other rows": (
        networks(image_shape=(1, 3, 3)),
        ValueError,
        r"image_shape must have as many entries as a row of X; got \(1, 3, 3\), 9 entries, for rows of 2",
    ),
    "loss": (networks(loss="zero_one"), ValueError, r"'zero_one' only scores\. Use one of"),
    "correction": (networks(correction="rleu"), ValueError, r"correction must be one of .* Did you mean 'relu'\?"),
    "recipe": (networks(recipe="home"), ValueError, r"recipe must be one of 'paper', 'house'; got 'home'"),
    "epochs": (networks(epochs=0), ValueError, r"epochs must be a whole number of at least 1; got 0"),
    "batch_size": (networks(batch_size=1), ValueError, r"batch_size must be a whole number of at least 2; got 1"),
    "learning_rate": (networks(learning_rate=0), ValueError, r"learning_rate must be a number in \(0, inf\); got 0"),
    "weight_decay": (networks(weight_decay=-1), ValueError, r"weight_decay must be a number in \[0, inf\); got -1"),
    "a learning rate too many": (
        networks(learning_rate=(0.1, 0.2)),
        ValueError,
        r"learning_rate must be a number, or a sequence with one for each of 1 members; got 2 numbers\. Give as many",
    ),
    "members": (networks(members=0), ValueError, r"members must be a whole number of at least 1; got 0"),
    "combine": (networks(combine="bset"), ValueError, r"combine must be one of 'mean', 'best'; got 'bset'\. Did you"),
    "validation_fraction": (
        networks(validation_fraction=0.6),
        ValueError,
        r"validation_fraction must be a number in \[0, 0\.5\]; got 0\.6",
    ),
    "nothing to choose by": (
        networks(combine="best", validation_fraction=0),
        ValueError,
        r"combine='best' needs held-out rows to judge by; got none\. Use validation_fraction above 0 and two rows or "
        r"more in every set \(groups, where they are given\), or combine='mean'",
    ),
    "nothing to stop by": (
        networks(patience=3, validation_fraction=0),
        ValueError,
        r"patience=3 needs held-out rows to judge by; got none\. .* or patience=None",
    ),
    "nothing to choose by in parts": (
        lambda: UUNeuralClassifier(set_priors=(0.9, 0.4), prior=0.3, combine="best").partial_fit(ROWS, NAMES),
        ValueError,
        r"combine='best' needs held-out rows to choose a member by, and partial_fit holds none out\. Call fit first",
    ),
    "patience": (networks(patience=0), ValueError, r"patience must be a whole number of at least 1; got 0"),
    "device": (
        networks(device="gpu"),
        ValueError,
        r"device must be .* of this machine; got 'gpu' .* Use 'auto' or 'cpu'",
    ),
    "precision": (
        networks(precision="float16"),
        ValueError,
        r"precision must be one of 'auto', 'bfloat16', 'float32'; got 'float16'\. Did you mean 'bfloat16'\?",
    ),
    "compile": (networks(compile="never"), ValueError, r"compile must be True, False or 'auto'; got 'never'"),
    "progress": (networks(progress=1), ValueError, r"progress must be True, False or 'auto'; got 1"),
    "callbacks": (networks(callbacks=print), TypeError, r"callbacks must be a list of callables; got <built-in .*list"),
    "checkpoint without a seed": (
        networks(checkpoint="states"),
        ValueError,
        r"checkpoint needs a random_state, or the same fit, started again, would be another one; got None\. Give a",
    ),
    "checkpoint in a file": (
        networks(checkpoint=__file__, random_state=0),
        ValueError,
        r"checkpoint must be a folder; got the file '.*test_bad_input\.py'\. Give another path",
    ),
    "checkpoint of another fit": (
        resumed,
        ValueError,
        r"checkpoint must be of this very training .* Give another folder",
    ),
    "test rows alone": (
        networks(test=ROWS),
        TypeError,
        r"test must be a pair \(X, labels\); got ndarray\. Labels are only reported",
    ),
    "test rows without labels": (
        networks(test=(ROWS, [0, 1])),
        ValueError,
        r"test must be \(X, labels\), one label a row; got 6 rows and labels of shape \(2,\)\. Bring as many",
    ),
    "test labels of other classes": (
        networks(test=(ROWS, NAMES + 1)),
        ValueError,
        r"test must hold labels that the classifier predicts, 0, 1; got 2\. Name the classes alike, or give classes=",
    ),
    "a loss without end": (
        networks(loss="squared", learning_rate=1e30, epochs=9, batch_size=2, validation_fraction=0),
        ValueError,
        r"the loss must stay finite; it is (nan|inf|-inf) in epoch \d\. Standardise X, lower learning_rate, or bound",
    ),
    "probabilities of a loss that fixes none": (
        lambda: network(validation_fraction=0).predict_proba(ROWS),
        ValueError,
        r"predict_proba needs a loss that fixes probabilities, or a link .* got loss=.sigmoid. and no link\. "
        r"Use loss=.logistic., or fit, and not partial_fit, to the end with validation_fraction above 0",
    ),
    "a warm start of other members": (
        lambda: network(warm_start=True).set_params(members=2).fit(ROWS, NAMES),
        ValueError,
        r"module, members and the shape of rows must be as before, .* and with partial_fit; weight has changed",
    ),
    "folds without a set": (
        networks(X=ROWS[:5], y=[0, 0, 0, 1, 1], refine=1),
        ValueError,
        r"cross-fitting .* needs at least 2 rows in every set; the smallest has 1\. Bring more rows, or use refine=0",
    ),
    "channels last": (
        networks("resnet32", X=np.zeros((6, 8, 8, 3))),
        ValueError,
        r"X must hold images of shape \(channels, height, width\) .* got rows of shape \(8, 8, 3\), channels last\.",
    ),
    "a factory of no argument": (
        networks(lambda: nn.Linear(2, 1)),
        ValueError,
        r"module must be a callable that takes the shape .* it failed on \(2,\): .* Give a module, or a callable",
    ),
    "a lazy layer": (
        networks(nn.LazyLinear(1)),
        ValueError,
        r"module must have parameters of known shapes; got a lazy layer",
    ),
    "a recipe of another optimiser": (
        lambda: Recipe(optimizer="adamw"),
        ValueError,
        r"optimizer must be one of 'sgd', 'adam'; got 'adamw'\. Did you mean 'adam'\?",
    ),
    "a recipe without an epoch": (lambda: Recipe(epochs=0), ValueError, r"epochs must be a whole number of at least 1"),
    "a column of an array": (networks(y="village"), ValueError, r"X must be a Parquet file, a folder of them or"),
    "sets that are not known yet": (
        lambda: network().partial_fit(ROWS, NAMES + 1),
        ValueError,
        r"y must name sets that the classifier was trained on, 0, 1; got 2",
    ),
    "other features, read as needed": (
        lambda: network().predict(TensorDataset(ones(4, 3))),
        ValueError,
        r"X has 3 features, but UUNeuralClassifier is expecting 2\. Bring the same ones",
    ),
    "NaN, read as needed": (
        networks(X=TensorDataset(zeros(6, 2) / 0)),
        ValueError,
        r"X must hold finite numbers; got NaN or no value in row \d",
    ),
}


@pytest.mark.parametrize(("refused", "kind", "sentence"), TABLE.values(), ids=TABLE)
def test_refusal(refused, kind, sentence):
    """Bad input is refused in a sentence that says what is wrong and what to do."""
    with pytest.raises(kind, match=sentence):
        refused()
