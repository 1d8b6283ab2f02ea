"""What the experiments are, beside what the paper says they are."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from uulearn.datasets import NAMES
from uulearn.datasets.loading import BY_NAME
from uulearn.paper.methods import LOAD, METHODS
from uulearn.paper.networks import recipe_of
from uulearn.paper.runner import plan
from uulearn.paper.spec import Cell, Limit, Preset, reductions
from uulearn.paper.specs import ALIASES, SPECS, find

RUNS = {
    "figure-1": (5, 50),
    "table-1": (4, 4),
    "figure-2": (24, 240),
    "figure-3": (21, 210),
    "figure-4": (6, 60),
    "figure-5": (21, 210),
    "table-2": (54, 540),
    "table-3": (59, 590),
}
"""Trainings and runs of the preset `paper`."""


@pytest.mark.parametrize("name", RUNS)
def test_plan(name):
    """Ten repetitions of every method in every cell; each run has a key and each training a file of its own."""
    tasks = plan(SPECS[name], "paper")
    keys = [key for task in tasks for key in task.planned()]
    assert (len(tasks), len(keys)) == RUNS[name]
    assert len(set(keys)) == len(keys)
    assert len({task.name for task in tasks}) == len(tasks)


def test_every_spec_is_counted():
    """A new experiment joins the list above."""
    assert set(RUNS) == set(SPECS)
    assert all(find(alias).name == meant for alias, meant in ALIASES.items())


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_spec(spec):
    """Three presets; data sets and methods that exist; the paper's values are of methods that run."""
    assert list(spec.presets) == ["smoke", "cpu", "paper"]
    assert not any(spec.presets["paper"].of(cell.data).changes for cell in spec.cells)
    for cell in spec.cells:
        assert cell.data in (*NAMES, "gauss")
        assert set(cell.methods) | set(spec.optional) <= {*METHODS, LOAD}
        assert set(cell.paper) | set(cell.log) <= {*cell.methods, "psvm"}


PAPER = [
    ("figure-2", ("mnist", (0.9, 0.1), None), "uu", (2.37, 0.17, "bold")),
    ("figure-2", ("mnist", None, None), "oracle", (1.44, 0.08)),
    ("figure-2", ("fashion-mnist", (0.8, 0.2), None), "small-pn-shift", (4.86, 0.16)),
    ("figure-2", ("svhn", (0.8, 0.2), None), "uu", (3.99, 0.51, "bold")),
    ("figure-2", ("cifar10", None, None), "small-pn", (12.53, 0.69)),
    ("table-2", ("mnist", (0.9, 0.1), (1.2, 1.2)), "uu", (2.35, 0.14)),
    ("table-2", ("mnist", (0.7, 0.3), (0.8, 1.2)), "uu", (4.19, 0.22)),
    ("table-2", ("cifar10", (0.8, 0.2), (1.0, 1.0)), "uu", (10.77, 0.40)),
    ("table-2", ("cifar10", (0.7, 0.3), (1.2, 0.8)), "uu", (11.95, 0.49)),
    ("table-3", ("pendigits", (0.67, 0.1), None), "psvm", (4.03, 0.27)),
    ("table-3", ("spambase", (0.9, 0.1), None), "ber-fc", (13.98, 1.63)),
    ("table-3", ("mnist", (0.885, 0.115), None), "psvm", "N/A"),
    ("table-3", ("usps", (0.9, 0.46), None), "ber-fc", (18.27, 5.17)),
    ("table-1", ("svhn", None, None), "load", (100_000, 26_032, 3_072, 0.27)),
]


@pytest.mark.parametrize(("name", "where", "method", "value"), PAPER)
def test_paper_values(name, where, method, value):
    """Numbers read off the paper's tables again."""
    found = [cell for cell in SPECS[name].cells if (cell.data, cell.shares, cell.factors) == where]
    assert [cell.paper[method] for cell in found if method in cell.paper] == [value]


def test_table_3_sizes():
    """Rows and gaps of the ten lines are those of the paper, one row less where its number is odd."""
    trained = [971, 3_863, 7_139, 1_139, 532, 971, 2_605, 1_695, 1_853, 424]
    gaps = [0.57, 0.80, 0.77, 0.80, 0.60, 0.57, 0.80, 0.60, 0.80, 0.44]
    cells = SPECS["table-3"].cells
    assert [2 * cell.sizes[0] for cell in cells] == [n - n % 2 for n in trained]
    assert [round(cell.shares[0] - cell.shares[1], 2) for cell in cells] == gaps
    assert [cell.prior for cell in cells] == [0.1, 0.3, 0.5, 0.7, 0.9] * 2


def test_recipes():
    """What the paper and its authors' code fix, with the Keras penalty doubled."""
    cells = {cell.data: cell for cell in SPECS["figure-2"].cells if cell.shares == (0.8, 0.2)}
    facts = "optimizer", "learning_rate", "decay", "weight_decay", "batch_size", "epochs", "momentum"
    found = {data: tuple(getattr(recipe_of(cell, Limit()), fact) for fact in facts) for data, cell in cells.items()}
    assert found == {
        "mnist": ("sgd", 1e-3, 1e-4, 2e-4, 128, 200, 0),
        "fashion-mnist": ("sgd", 1e-4, 1e-4, 2e-4, 128, 200, 0),
        "svhn": ("adam", 1e-3, 1e-4, 2e-5, 500, 200, 0),
        "cifar10": ("adam", 1e-5, 1e-4, 1e-2, 500, 200, 0),
    }
    logistic = next(cell for cell in SPECS["figure-4"].cells if cell.loss == "logistic")
    assert recipe_of(logistic, Limit()).learning_rate == pytest.approx(1e-4)
    gauss = recipe_of(SPECS["figure-1"].cells[0], Limit())
    assert (gauss.learning_rate, gauss.batch_size, gauss.epochs, gauss.weight_decay, gauss.decay) == (
        0.01,
        128,
        500,
        0,
        0,
    )


def test_reductions():
    """The paper's preset is no reduction; any other says in words what it lacks."""
    assert reductions(Preset(), "mnist", 200) == []
    less = Preset(by_data={"mnist": Limit(2, 5, 0.5, {"learning_rate": 0.1})}, stand_in=True)
    assert reductions(less, "mnist", 200)[1:] == [
        "2 of 10 repetitions",
        "5 of 200 epochs",
        "0.5 times the rows",
        "learning_rate 0.1",
    ]


def test_setting():
    """A record says all that tells cells apart, and nothing that is not there."""
    cell = Cell("mnist", ("uu",), 0.49, (0.9, 0.1), (200, 100), factors=(1.2, 0.8), loss="logistic")
    assert cell.setting == {
        **{"prior": 0.49, "theta": 0.9, "theta_prime": 0.1, "n": 200, "n_prime": 100},
        **{"factors": (1.2, 0.8), "loss": "logistic"},
    }
    assert cell.told == pytest.approx((1.08, 0.08))
    assert cell.scaled(0.1).sizes == (20, 10)
    assert replace(cell, shares=None, sizes=None, factors=None, loss="sigmoid").setting == {"prior": 0.49}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "cup"}, r"preset must be one of 'smoke', 'cpu', 'paper'; got 'cup'. Did you mean 'cpu'\?"),
        ({"preset": "cpu", "methods": ["psvm"]}, "methods must be one of 'oracle', 'uu', 'ccn'"),
        ({"preset": "cpu", "datasets": ["usps"]}, "datasets must be one of 'mnist'; got 'usps'"),
    ],
)
def test_refusals(options, message):
    """Names that are not there are refused with those that are."""
    with pytest.raises(ValueError, match=message):
        plan(SPECS["figure-3"], **options)


def test_nothing_left():
    """A method that runs on none of the named data sets leaves nothing."""
    with pytest.raises(ValueError, match="methods and datasets must leave something of table-3 to run"):
        plan(SPECS["table-3"], "cpu", methods=["psvm"], datasets=["mnist"])


def test_no_set_asks_for_more_than_a_class_has():
    """Two sets may share rows where a class runs out, but no set holds a row twice."""
    for spec in SPECS.values():
        for cell in spec.cells:
            if cell.data == "gauss" or cell.shares is None or cell.sizes is None:
                continue
            source = BY_NAME[cell.data]
            counts = source.forms[0].splits[0].counts
            positive = sum(n for label, n in counts.items() if label in source.positive)
            share = positive / sum(counts.values())
            rows = cell.subsample or source.draw or sum(counts.values())
            prior = cell.prior if cell.subsample else share
            for theta, size in zip(cell.shares, cell.sizes, strict=True):
                assert theta * size <= rows * prior + 1, (spec.name, cell)
                assert (1 - theta) * size <= rows * (1 - prior) + 1, (spec.name, cell)
