"""Table 2: trained with wrong set priors, theta and theta' multiplied together and in opposite directions."""

from uulearn.paper.spec import SMOKE, Cell, Limit, Preset, Spec, along, column, presets

FACTORS = [
    *((0.8, 0.8), (0.9, 0.9), (1.0, 1.0), (1.1, 1.1), (1.2, 1.2)),
    *((0.8, 1.2), (0.9, 1.1), (1.1, 0.9), (1.2, 0.8)),
]


def uu(
    data: str, prior: float, shares: tuple[float, float], size: int, together: str, opposite: str
) -> tuple[Cell, ...]:
    """The cells of one line of both halves of the table; the true priors stand in the first."""
    cell = Cell(data, ("uu",), prior, shares, (size, size))
    return along(cell, factors=FACTORS, paper=column("uu", f"{together} & {opposite}"))


SPEC = Spec(
    name="table-2",
    title="Inaccurate training class priors",
    cells=(
        *uu(
            *("mnist", 0.49, (0.9, 0.1), 20_000),
            "2.31 (0.16) & 2.31 (0.14) & 2.31 (0.14) & 2.32 (0.14) & 2.35 (0.14)",
            "2.30 (0.15) & 2.31 (0.16) & 2.30 (0.13) & 2.30 (0.14)",
        ),
        *uu(
            *("mnist", 0.49, (0.8, 0.2), 20_000),
            "3.00 (0.12) & 3.00 (0.11) & 3.01 (0.10) & 3.02 (0.10) & 3.01 (0.10)",
            "3.00 (0.10) & 3.00 (0.12) & 3.02 (0.12) & 3.01 (0.11)",
        ),
        *uu(
            *("mnist", 0.49, (0.7, 0.3), 20_000),
            "4.24 (0.23) & 4.24 (0.24) & 4.24 (0.26) & 4.25 (0.24) & 4.25 (0.25)",
            "4.19 (0.22) & 4.22 (0.23) & 4.24 (0.25) & 4.25 (0.23)",
        ),
        *uu(
            *("cifar10", 0.60, (0.9, 0.1), 22_000),  # 25,000 would need 22,500 negative rows, of which there are 20,000
            "10.19 (0.37) & 10.14 (0.29) & 10.14 (0.30) & 10.11 (0.34) & 10.09 (0.35)",
            "10.20 (0.33) & 10.15 (0.34) & 10.12 (0.35) & 10.08 (0.37)",
        ),
        *uu(
            *("cifar10", 0.60, (0.8, 0.2), 25_000),
            "10.84 (0.38) & 10.84 (0.40) & 10.77 (0.40) & 10.73 (0.40) & 10.73 (0.40)",
            "10.94 (0.46) & 10.83 (0.39) & 10.75 (0.37) & 10.71 (0.43)",
        ),
        *uu(
            *("cifar10", 0.60, (0.7, 0.3), 25_000),
            "12.04 (0.61) & 12.00 (0.54) & 11.92 (0.54) & 11.91 (0.53) & 11.88 (0.53)",
            "12.24 (0.71) & 12.05 (0.59) & 11.88 (0.53) & 11.95 (0.49)",
        ),
    ),
    presets=presets(
        Preset(
            Limit(draws=5, epochs=100),
            {"cifar10": Limit(draws=1, epochs=3, scale=0.2, changes={"learning_rate": 1e-3})},
        ),
        smoke=Preset(SMOKE.limit, {"cifar10": Limit(draws=1, epochs=1, scale=0.002)}, SMOKE.tuning, stand_in=True),
    ),
)
