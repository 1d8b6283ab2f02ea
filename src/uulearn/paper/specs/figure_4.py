"""Figure 4: the sigmoid against the logistic loss; `log` is the authors' published log, one run."""

from uulearn.paper.spec import Cell, Limit, Preset, Spec, along, column, grid, presets

UU = Cell("mnist", ("uu",), 0.49, sizes=(30_000, 30_000))
ORACLE = Cell("mnist", ("oracle",), 0.49)

SPEC = Spec(
    name="figure-4",
    title="Comparing the sigmoid and the logistic loss",
    cells=(
        *grid(ORACLE, loss=["sigmoid", "logistic"]),
        *along(
            UU,
            shares=[(0.9, 0.1), (0.8, 0.2), (0.9, 0.1), (0.8, 0.2)],
            loss=["sigmoid", "sigmoid", "logistic", "logistic"],
            log=column("uu", "1.94 & 2.67 & 2.93 & 4.18"),
        ),
    ),
    presets=presets(Preset(Limit(draws=5, epochs=100))),
)
