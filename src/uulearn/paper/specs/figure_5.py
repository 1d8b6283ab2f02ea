"""Figure 5: n moves farther from n'."""

from uulearn.paper.spec import Cell, Limit, Preset, Spec, grid, presets

SETS = Cell("mnist", ("uu", "ccn"), 0.49)
SIZES = [(20_000, 20_000), (16_000, 20_000), (12_000, 20_000), (8_000, 20_000), (4_000, 20_000)]

SPEC = Spec(
    name="figure-5",
    title="Moving n farther from n'",
    cells=(
        Cell("mnist", ("oracle",), 0.49, labeled=40_000),
        *grid(SETS, shares=[(0.9, 0.4), (0.8, 0.4)], sizes=SIZES),
    ),
    presets=presets(Preset(Limit(draws=5, epochs=100))),
    optional=("ccn-pooled", "uu-biased"),
)
