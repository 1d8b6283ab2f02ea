"""One small file for each figure and table."""

from uulearn._checks import choose
from uulearn.paper.spec import Spec
from uulearn.paper.specs import figure_1, figure_2, figure_3, figure_4, figure_5, table_1, table_2, table_3

SPECS = {
    module.SPEC.name: module.SPEC
    for module in (figure_1, table_1, figure_2, figure_3, figure_4, figure_5, table_2, table_3)
}
ALIASES = {"table-4": "figure-2"}
"""The appendix table of final errors holds the ends of the curves of figure 2."""


def find(name: str) -> Spec:
    """The experiment of that name.

    Examples
    --------
    >>> find("table-4").name
    'figure-2'
    """
    known = {**SPECS, **{alias: SPECS[meant] for alias, meant in ALIASES.items()}}
    return choose("spec", name, known)
