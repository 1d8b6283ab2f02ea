"""What a user sees, and what it costs to see it."""

import json
import subprocess
import sys
from importlib import resources
from importlib.util import find_spec

import pytest

import uulearn

CONTRACT = {
    "CalibratedUUClassifier",
    "Priors",
    "UUClassifier",
    "UUKernelClassifier",
    "UULinearClassifier",
    "UUNeuralClassifier",
    "UUSearch",
    "Uncertain",
    "baselines",
    "choose_threshold",
    "class_auc",
    "datasets",
    "displays",
    "estimate_set_priors",
    "estimate_target_prior",
    "losses",
    "make_unlabeled_sets",
    "metrics",
    "priors_from_labels",
    "risk",
    "selection",
    "sensitivity",
    "shift_prior",
    "theory",
}
"""Scripts outside this repository rely on these names."""
needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="UUNeuralClassifier needs torch")


def loaded_by(statement):
    """Modules loaded in a fresh interpreter after the statement, and the seconds it took."""
    script = (
        "import json, sys, time; start = time.perf_counter()\n"
        f"{statement}\n"
        "took = time.perf_counter() - start; print(json.dumps([took, sorted(sys.modules)]))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    took, modules = json.loads(run.stdout)
    return took, set(modules)


def test_the_names():
    """The exported names are exactly the contract."""
    assert set(uulearn.__all__) == CONTRACT
    assert len(uulearn.__all__) == len(CONTRACT)
    assert set(dir(uulearn)) == CONTRACT | {"__version__"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_torch if "Neural" in name else ()) for name in sorted(CONTRACT)]
)
def test_a_name_can_be_had(name):
    """Each name is there, and documented."""
    assert getattr(uulearn, name).__doc__


@needs_torch
def test_star_import():
    """`from uulearn import *` brings the contract."""
    names = {}
    exec("from uulearn import *", names)
    assert names.keys() - {"__builtins__"} == CONTRACT


def test_an_unknown_name():
    """A name that is not there is refused with the names that are."""
    known = r"module 'uulearn' has no attribute 'UULinear'; it offers Priors, .*theory"
    with pytest.raises(AttributeError, match=known):
        uulearn.UULinear  # noqa: B018  (the access is what is tested)
    with pytest.raises(ImportError, match="cannot import name 'UULinear'"):
        from uulearn import UULinear  # noqa: F401  (so is the import)


def test_a_name_is_looked_up_once():
    """After its first use a name is an ordinary attribute of the module."""
    assert uulearn.Priors is uulearn.Priors is vars(uulearn)["Priors"]


def test_import_is_lazy():
    """`import uulearn` takes less than .1 s (best of 5) and loads none of its rooms, nor NumPy, nor scikit-learn."""
    runs = [loaded_by("import uulearn") for _ in range(5)]
    assert min(took for took, _ in runs) < 0.1
    _, plain = loaded_by("pass")
    new = runs[0][1] - plain
    assert {name for name in new if name.startswith("uulearn")} == {"uulearn"}
    assert not {"numpy", "scipy", "sklearn", "torch", "pandas", "matplotlib"} & {name.partition(".")[0] for name in new}


THEORY = {"Priors", "datasets", "losses", "make_unlabeled_sets", "metrics", "risk", "theory"}


def test_the_theory_needs_numpy_alone():
    """Everything but the classifiers loads no package but NumPy."""
    _, ours = loaded_by(f"from uulearn import {', '.join(sorted(THEORY))}")
    _, theirs = loaded_by("import numpy.random")
    ours, theirs = ({name.partition(".")[0] for name in names} for names in (ours, theirs))
    assert ours - theirs - sys.stdlib_module_names == {"uulearn"}


def test_classifiers_load_what_linear_models_load():
    """Beyond its own modules uulearn loads nothing that linear models do not load, but for torch and networks."""
    _, ours = loaded_by(f"from uulearn import {', '.join(sorted(CONTRACT - {'UUNeuralClassifier'}))}")
    _, theirs = loaded_by("import sklearn.linear_model")
    assert {name for name in ours - theirs if name.partition(".")[0] != "uulearn"} == set()


WITHOUT_TORCH = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Finder())
from uulearn import UULinearClassifier
from uulearn import UUNeuralClassifier
"""


def test_networks_without_torch():
    """The name is there; asking for it says which extra is missing."""
    run = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    last = run.stderr.strip().splitlines()[-1]
    assert last == (
        "ModuleNotFoundError: UUNeuralClassifier needs the extra 'torch' (torch is missing): pip install "
        "'uulearn[torch]'."
    )


def test_typed():
    """Type checkers are told to read the package's own hints."""
    assert resources.files("uulearn").joinpath("py.typed").is_file()
