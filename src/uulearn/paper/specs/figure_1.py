"""Figure 1: a Gaussian mixture, and the lines that four methods draw (the fifth is the other reading of CCN)."""

from uulearn.paper.spec import SMOKE, Cell, Limit, Preset, Spec, presets

SPEC = Spec(
    name="figure-1",
    title="Classification from a Gaussian mixture",
    cells=(
        Cell(
            "gauss",
            ("oracle", "uu", "ccn", "uu-biased", "ccn-pooled"),
            prior=0.3,
            shares=(0.9, 0.4),
            sizes=(2_000, 1_000),
            labeled=3_000,
        ),
    ),
    presets=presets(Preset(), smoke=Preset(Limit(draws=2, epochs=5), tuning=SMOKE.tuning)),
)
