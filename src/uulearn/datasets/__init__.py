"""The benchmarks of the paper, from the official files in a folder or else from OpenML.

Images come as stored: bytes of shape (n, channels, height, width). Tables come as floats of shape (n, features).
Every row is checked against what was published, so that two machines train on the same numbers.
"""

from uulearn.datasets.dataset import Dataset
from uulearn.datasets.loading import NAMES, load
from uulearn.datasets.readers import DatasetError
from uulearn.datasets.survey import Line, survey

__all__ = ["NAMES", "Dataset", "DatasetError", "Line", "load", "survey"]
