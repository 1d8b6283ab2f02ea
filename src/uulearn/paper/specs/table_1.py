"""Table 1: the benchmarks as loaded. The error of a run is the share of the paper's four numbers that differ."""

from uulearn.paper.spec import Cell, Limit, Preset, Spec

COLUMNS = ("train", "test", "features", "prior")
ONCE = Preset(Limit(draws=1))

SPEC = Spec(
    name="table-1",
    title="Specification of benchmark datasets",
    cells=(
        Cell("mnist", ("load",), 0.49, paper={"load": (60_000, 10_000, 784, 0.49)}),
        Cell("fashion-mnist", ("load",), 0.50, paper={"load": (60_000, 10_000, 784, 0.50)}),
        Cell("svhn", ("load",), 0.27, paper={"load": (100_000, 26_032, 3_072, 0.27)}),
        Cell("cifar10", ("load",), 0.60, paper={"load": (50_000, 10_000, 3_072, 0.60)}),
    ),
    presets={"smoke": Preset(Limit(draws=1), stand_in=True), "cpu": ONCE, "paper": ONCE},
)
