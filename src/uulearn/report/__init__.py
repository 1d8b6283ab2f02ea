"""Tables and figures of recorded runs. This room knows the records and matplotlib, and nothing else of the library."""

from uulearn.report.curves import CurvesDisplay
from uulearn.report.pages import Pages, make
from uulearn.report.tables import TableDisplay

__all__ = ["CurvesDisplay", "Pages", "TableDisplay", "make"]
