"""Figure 3: theta' moves closer to theta."""

from uulearn.paper.spec import Cell, Limit, Preset, Spec, grid, presets

SETS = Cell("mnist", ("uu", "ccn"), 0.49, sizes=(20_000, 20_000))
SHARES = [(0.9, 0.1), (0.9, 0.2), (0.9, 0.3), (0.9, 0.4), (0.9, 0.5)]
CLOSER = [(0.8, 0.1), (0.8, 0.2), (0.8, 0.3), (0.8, 0.4), (0.8, 0.5)]

SPEC = Spec(
    name="figure-3",
    title="Moving θ' closer to θ",
    cells=(Cell("mnist", ("oracle",), 0.49, labeled=40_000), *grid(SETS, shares=SHARES + CLOSER)),
    presets=presets(Preset(Limit(draws=5, epochs=100))),
    optional=("ccn-pooled", "uu-biased"),
)
