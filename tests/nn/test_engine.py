"""The training loop takes the steps of a naive loop over torch.optim, for K networks at once."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from uulearn import losses
from uulearn.nn import engine
from uulearn.nn.batches import Batches, Member
from uulearn.nn.engine import Table, Trainer, run, score
from uulearn.nn.models import MLP, BatchNorm
from uulearn.nn.networks import Networks
from uulearn.nn.recipes import Recipe
from uulearn.nn.rows import as_rows
from uulearn.risk import Columns, Risk, get_correction, row_weights
from uulearn.sets import match_sets

CPU, SHAPE, BATCH = torch.device("cpu"), (1, 2, 4), 24
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 1], [80, 40]))
OWN = [np.flatnonzero(Y < 1), np.flatnonzero(Y > 0)]  # rows of either set
TRUTH = RNG.random(120) < np.array([0.6, 0.45])[Y]
X = (RNG.normal(size=(120, *SHAPE)) + 0.5 * TRUTH[:, None, None, None]).astype(np.float32)
COLUMNS = row_weights(match_sets(Y, (0.6, 0.45), 0.3))
"""The sets are so much alike that parts of the risk fall below zero."""


class Spare(nn.Module):
    """A module with a parameter that no score depends on."""

    def __init__(self):
        super().__init__()
        self.used, self.spare = nn.Linear(8, 1), nn.Linear(3, 3)

    def forward(self, x):
        return self.used(x.flatten(1)).squeeze(1)


def dense(*more, bias=True):
    return nn.Sequential(nn.Flatten(), nn.Linear(8, 5, bias), *more, nn.Linear(5, 1))


# No bias before a batch norm: its gradient is rounding alone, which Adam takes at full length.
KINDS = {
    "mlp": lambda shape: MLP(shape, (5, 5)),
    "no batch norm": lambda shape: dense(nn.ReLU()),
    "batch norm of torch": lambda shape: dense(nn.BatchNorm1d(5), nn.ReLU(), bias=False),
    "images": lambda shape: nn.Sequential(
        nn.Conv2d(1, 3, 2, bias=False), BatchNorm(3), nn.ReLU(), nn.Flatten(), nn.Linear(9, 1)
    ),
    "spare parameter": lambda shape: Spare(),
}
SGD = Recipe(learning_rate=0.1, momentum=0.0, schedule="decay", decay=0.05, weight_decay=0.02, batch_size=BATCH)
NESTEROV = Recipe(learning_rate=0.1, momentum=0.9, weight_decay=0.02, batch_size=BATCH)
ADAM = replace(SGD, optimizer="adam", learning_rate=0.01)
RECIPES = {"sgd": SGD, "nesterov": NESTEROV, "adam": ADAM}


def members(k, **changes):
    """K members, all on the same rows."""
    return [replace(Member(np.arange(120), COLUMNS, Y, seed), **changes) for seed in range(k)]


def trainer(
    make,
    each,
    recipe=NESTEROV,
    *,
    source=X,
    loss="sigmoid",
    correction="none",
    epochs=3,
    dtype=torch.float32,
    **options,
):
    networks = Networks(make, SHAPE, [member.seed for member in each], CPU)
    table = Table(as_rows(source), SHAPE, dtype, CPU)
    return Trainer(networks, table, each, recipe, epochs, losses.get(loss), get_correction(correction), **options)


def trained(*arguments, **options):
    """A trainer after its last epoch, and the mean risks of the batches, (epochs, members)."""
    made = trainer(*arguments, **options)
    return made, np.array([made.train_epoch() for _ in range(made.epochs)])


def naively(make, member, recipe, correction="none", epochs=3):
    """The module, trained by torch's own optimiser step by step, and the mean risk of the batches of each epoch."""
    module = make(SHAPE)
    module.load_state_dict(Networks(make, SHAPE, [member.seed], CPU).member(0))
    decay = recipe.weight_decay if member.weight_decay is None else member.weight_decay
    kernels = [value for value in module.parameters() if value.ndim > 1]
    others = [value for value in module.parameters() if value.ndim < 2]
    groups = [{"params": kernels, "weight_decay": decay}, {"params": others, "weight_decay": 0}]
    if recipe.optimizer == "sgd":
        optimizer = torch.optim.SGD(groups, lr=1, momentum=recipe.momentum, nesterov=recipe.momentum > 0)
    else:
        optimizer = torch.optim.Adam(groups, lr=1)
    batches, found, step = Batches([member], recipe.batch_size), [], 0
    slope = {"none": 1, "relu": 0, "abs": -1}[correction]
    for epoch in range(epochs):
        (window,) = batches.windows(epoch)
        tables, risks = batches.tables(epoch, window), []
        rates = recipe.rates(epoch, epochs, batches.steps)
        for index, plus, minus, rate in zip(
            tables.rows[:, 0], tables.plus[:, 0], tables.minus[:, 0], rates, strict=True
        ):
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = rate * member.rate
                # Keras adds its epsilon to the root of the raw second moment, torch to that of the corrected one.
                group["eps"] = 1e-7 / (1 - 0.999**step) ** 0.5
            optimizer.zero_grad()
            scores = module.train()(torch.from_numpy(X[index])).flatten()
            parts = [
                (torch.from_numpy(plus) * torch.sigmoid(-scores)).sum(),
                (torch.from_numpy(minus) * torch.sigmoid(scores)).sum(),
            ]
            sum(part if part > 0 else slope * part for part in parts).backward()
            for value in module.parameters():
                value.grad = torch.zeros_like(value) if value.grad is None else value.grad
            optimizer.step()
            risks.append(Risk(Columns(plus, minus), "sigmoid", correction).value(scores.detach().numpy()))
        found.append(np.mean(risks))
    return module, np.array(found)


def assert_same(networks, modules, tolerance=1e-4):
    """Parameters and buffers of the networks are those of the modules."""
    for k, module in enumerate(modules):
        state = networks.member(k)
        for name, value in [*module.named_parameters(), *module.named_buffers()]:
            torch.testing.assert_close(state[name], value.detach(), rtol=tolerance, atol=tolerance, msg=name)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_those_of_torch(kind, recipe):
    """K networks of any kind after three epochs are what K loops over torch.optim make, and so are their risks."""
    made, risks = trained(KINDS[kind], members(2), RECIPES[recipe])
    modules, expected = zip(*(naively(KINDS[kind], one, RECIPES[recipe]) for one in members(2)), strict=True)
    assert_same(made.networks, modules)
    assert risks == pytest.approx(np.transpose(expected), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("correction", ["relu", "abs"])
@pytest.mark.parametrize("kind", ["mlp", "batch norm of torch"])
def test_corrections_act_on_whole_batches(kind, correction):
    """Each part is summed over all rows of the batch, of both sets, before the correction, and each network's apart."""
    made, risks = trained(KINDS[kind], members(2), correction=correction)
    modules, expected = zip(*(naively(KINDS[kind], one, NESTEROV, correction) for one in members(2)), strict=True)
    assert_same(made.networks, modules)
    assert risks == pytest.approx(np.transpose(expected), rel=1e-4, abs=1e-5)
    assert abs(risks - trained(KINDS[kind], members(2))[1]).max() > 1e-3


def test_epsilon_of_adam():
    """Where gradients are as small as epsilon, it stands where Keras has it."""
    small = Columns(*(1e-6 * column for column in COLUMNS))
    recipe, (one,) = replace(ADAM, weight_decay=0.0), members(1, columns=small)
    made, _ = trained(KINDS["no batch norm"], [one], recipe)
    module, _ = naively(KINDS["no batch norm"], one, recipe)
    assert_same(made.networks, [module], 1e-5)


@pytest.mark.parametrize("recipe", ["nesterov", "adam"])
@pytest.mark.parametrize("kind", ["mlp", "no batch norm", "images"])
def test_members_are_trained_as_if_alone(kind, recipe):
    """K networks trained together, on rows of their own, are K networks trained one after another."""
    each = []
    for seed in range(3):
        some = np.random.default_rng(seed)
        rows = np.sort(np.concatenate([some.choice(own, n, False) for own, n in zip(OWN, (50, 30), strict=True)]))
        each.append(Member(rows, row_weights(match_sets(Y[rows], (0.6, 0.45), 0.3)), Y[rows], seed))
    made, risks = trained(KINDS[kind], each, RECIPES[recipe])
    for k, one in enumerate(each):
        alone, risk = trained(KINDS[kind], [one], RECIPES[recipe])
        assert risks[:, [k]] == pytest.approx(risk, rel=1e-4, abs=1e-5)
        for name, value in alone.networks.parameters.items():
            torch.testing.assert_close(made.networks.parameters[name][k], value[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["mlp", "batch norm of torch"])
def test_rates_and_decays_of_members(kind):
    """Each member has its own factor on the learning rate and its own weight decay."""
    each = [replace(members(1)[0], rate=rate, weight_decay=decay) for rate, decay in ((1, None), (0.3, 0.5), (2, 0.0))]
    made, _ = trained(KINDS[kind], each)
    assert_same(made.networks, [naively(KINDS[kind], one, NESTEROV)[0] for one in each])


@pytest.mark.parametrize("more", [nn.ReLU(), nn.Dropout(0.1)], ids=["together", "in turn"])
def test_frozen_layers_stay(more):
    """Parameters that require no gradient are used, and left as they are."""

    def make(shape):
        module = dense(more)
        module[1].requires_grad_(False)
        return module

    made, _ = trained(make, members(2))
    start = Networks(make, SHAPE, [0, 1], CPU).state()
    same = {name for name, value in made.networks.state().items() if value.equal(start[name])}
    assert same == {"1.weight", "1.bias"}


class TestPrecision:
    """bfloat16 is for matrix products."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_weights_stay_exact(self, kind):
        """State stays float32, steps smaller than bfloat16 can show add up, and the result is close to float32."""
        recipe = replace(NESTEROV, learning_rate=0.02)
        exact, rounded = (
            trained(KINDS[kind], members(2), recipe, dtype=dtype)[0] for dtype in (torch.float32, torch.bfloat16)
        )
        start = Networks(KINDS[kind], SHAPE, [0, 1], CPU)
        for name, value in rounded.networks.parameters.items():
            assert value.dtype == torch.float32
            moved = exact.networks.parameters[name] - start.parameters[name]
            difference = value - exact.networks.parameters[name]
            assert difference.norm() <= 0.1 * moved.norm() + 1e-6
        assert {value.dtype for value in rounded.slots.values()} == {torch.float32}
        rows = np.arange(120)
        scores = [score(made.networks, made.table, rows) for made in (exact, rounded)]
        assert 0 < abs(scores[0] - scores[1]).max() < 0.05 * abs(scores[0]).max()


class TestDice:
    """Modules with random numbers of their own."""

    def test_dropout(self):
        """Dropout is on in training and off in scores, and its masks are a function of (seed, epoch)."""
        kind = {part: (lambda shape, part=part: dense(nn.Dropout(part))) for part in (0.0, 0.5)}
        torch.manual_seed(1)
        one, risks = trained(kind[0.5], members(2))
        torch.manual_seed(2)
        other, again = trained(kind[0.5], members(2))
        assert risks.tolist() == again.tolist()
        assert not np.allclose(risks, trained(kind[0.0], members(2))[1])
        scores = score(one.networks, one.table, np.arange(120))
        assert scores.tolist() == score(other.networks, other.table, np.arange(120)).tolist()

    def test_nothing_outside_is_disturbed(self):
        """Training leaves torch's random numbers as they were."""
        torch.manual_seed(3)
        expected = torch.rand(2)
        torch.manual_seed(3)
        trained(lambda shape: dense(nn.Dropout(0.5)), members(1))
        assert torch.rand(2).equal(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_a_row_are_its_own(kind):
    """The score of a row is bit for bit the same whatever rows are asked for with it."""
    made, _ = trained(KINDS[kind], members(2))
    everything = np.resize(np.arange(120), 2 * engine.SCORED + 7)
    found = made.scores(everything)
    assert found.shape == (2, len(everything))
    for rows in (np.array([5]), np.array([119, 0, 7]), np.arange(40, 90)):
        assert made.scores(rows).tolist() == found[:, rows].tolist()
    module = KINDS[kind](SHAPE)
    module.load_state_dict(made.networks.member(1))
    with torch.no_grad():
        expected = module.eval()(torch.from_numpy(X)).flatten().numpy()
    assert found[1, :120] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_keep_and_recall():
    """The networks kept are had back, running statistics too, whatever was trained since."""
    made, _ = trained(KINDS["mlp"], members(2))
    before = made.scores(np.arange(120))
    made.keep(epoch=torch.tensor(3))
    made.train_epoch()
    assert not np.allclose(made.scores(np.arange(120)), before)
    made.recall()
    assert made.scores(np.arange(120)).tolist() == before.tolist()


class TestStored:
    """Rows that are not in memory."""

    @pytest.fixture
    def stored(self, tmp_path):
        (tmp_path / "rows").write_bytes(X.tobytes())
        return np.memmap(tmp_path / "rows", np.float32, "r", shape=X.shape)

    def test_one_window(self, stored):
        """Where one window holds all rows, training is bit for bit that of an array."""
        for kind in ("mlp", "batch norm of torch"):
            ours, theirs = (trained(KINDS[kind], members(2), source=source)[0].state() for source in (stored, X))
            assert ours.keys() == theirs.keys()
            assert all(value.equal(theirs[name]) for name, value in ours.items())

    @pytest.mark.parametrize("shape", [(784,), (1, 28, 28), (3, 16, 16)])
    def test_a_window_is_bounded(self, tmp_path, monkeypatch, shape):
        """Rows of any shape, flat or not: a window holds what its bytes allow."""
        n_rows, index = 4000, np.arange(4000) % 2
        source = np.memmap(tmp_path / "many", np.float32, "w+", shape=(n_rows, *shape))
        monkeypatch.setattr(engine, "WINDOW_BYTES", source.nbytes // 4)
        one = Member(np.arange(n_rows), Columns(np.ones(n_rows), np.ones(n_rows)), index, 0)
        networks, table = Networks(MLP, shape, [0], CPU), Table(as_rows(source), shape, torch.float32, CPU)
        made = Trainer(networks, table, [one], NESTEROV, 1, losses.get("sigmoid"), get_correction("none"))
        assert max(len(window.rows) for window in made.batches.windows(0)) <= 1.1 * n_rows / 4

    def test_many_windows(self, stored, monkeypatch):
        """Window by window every row has its turn, with its own weights: the risk falls as it does in memory."""
        monkeypatch.setattr(engine, "WINDOW_BYTES", 0)
        made, risks = trained(KINDS["mlp"], members(2), replace(NESTEROV, learning_rate=0.03), source=stored, epochs=20)
        assert made.batches.parts == 2
        _, expected = trained(KINDS["mlp"], members(2), replace(NESTEROV, learning_rate=0.03), epochs=20)
        assert risks[0] == pytest.approx(expected[0], abs=0.2)
        assert np.all(risks[-5:].mean(0) < risks[0] - 0.5 * (expected[0] - expected[-5:].mean(0)))


def test_run():
    """Every epoch has its record, to which `after` may add, and which `after` may make the last."""
    made = trainer(KINDS["mlp"], members(2), epochs=9)

    def after(record):
        record["twice"] = 2 * record["epoch"]
        return record["epoch"] == 4

    history = run(made, after)
    assert [(record["epoch"], record["twice"]) for record in history] == [(1, 2), (2, 4), (3, 6), (4, 8)]
    _, risks = trained(KINDS["mlp"], members(2), epochs=9)
    assert [record["loss"] for record in history] == pytest.approx(risks.mean(1)[:4])
    assert all(record["seconds"] > 0 for record in history)
    assert made.rows == 2 * 120


class TestCompiled:
    """A compiled step is the same step."""

    def test_same(self):
        """Compiled and eager training agree."""
        (quick, risks), (eager, expected) = (
            trained(lambda shape: MLP(shape, (5,)), members(2), correction="relu", compiled=compiled)
            for compiled in (True, False)
        )
        assert quick.compiled
        assert not eager.compiled
        assert risks == pytest.approx(expected, rel=1e-4)
        for name, value in quick.state().items():
            torch.testing.assert_close(value, eager.state()[name], rtol=1e-3, atol=1e-4)

    @pytest.mark.parametrize("kind", ["mlp", "batch norm of torch"])
    def test_one_after_another(self, kind, monkeypatch):
        """Each training runs its own compiled step, with its own loss and correction, however many came before."""
        monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
        settings = [
            (loss, correction) for loss in ("sigmoid", "logistic", "squared") for correction in ("none", "relu")
        ]
        for loss, correction in [*settings, *settings[:3]]:
            options = {"loss": loss, "correction": correction, "epochs": 1}
            made, risks = trained(KINDS[kind], members(1), compiled=True, **options)
            assert made.compiled
            _, expected = trained(KINDS[kind], members(1), **options)
            assert risks == pytest.approx(expected, rel=1e-5)

    @pytest.mark.parametrize("kind", ["mlp", "batch norm of torch", "dropout"])
    def test_what_cannot_be_compiled(self, kind, monkeypatch, capfd):
        """Where compiling fails, even after a half step, training goes on from where it was, without a word."""

        def broken(function, **options):
            def step(*arguments):
                torch.rand(3)
                function(*arguments)
                raise RuntimeError("no compiler")

            return step

        monkeypatch.setattr(torch, "compile", broken)
        make = {**KINDS, "dropout": lambda shape: dense(nn.Dropout(0.5))}[kind]
        for dtype in (torch.float32, torch.bfloat16):
            made, risks = trained(make, members(2), compiled=True, dtype=dtype)
            assert not made.compiled
            eager, expected = trained(make, members(2), dtype=dtype)
            assert risks.tolist() == expected.tolist()
            assert all(value.equal(eager.state()[name]) for name, value in made.state().items())
        assert capfd.readouterr() == ("", "")
