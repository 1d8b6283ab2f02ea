"""How Sphinx builds the pages; `make docs` runs it with warnings as errors."""

from importlib.metadata import version as installed_version

project = "uulearn"
author = "The uulearn developers"
copyright = "2026, The uulearn developers"
release = installed_version("uulearn")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "myst_parser",
    "numpydoc",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say the types in words
autodoc_member_order = "bysource"
autodoc_default_options = {
    # scikit-learn's own methods are documented there, with references only its pages can resolve.
    "exclude-members": ", ".join(
        ["get_metadata_routing"]
        + [
            f"set_{method}_request"
            for method in ("fit", "partial_fit", "predict", "predict_proba", "decision_function", "score", "transform")
        ]
    ),
}
numpydoc_show_class_members = False  # the templates list them once

html_theme = "furo"
html_title = f"uulearn {release}"
