"""The site: sphinx-build docs docs/_build/html, or `make docs`."""

import os
import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# The packages of the repository, whatever else is installed.
os.environ["ORDHC_PLUGINS"] = "ordhc-linkages,ordhc-embedding,ordhc-judge,ordhc-collect"
# Bars have no place on a page.
os.environ["TQDM_DISABLE"] = "1"

import ordhc

_PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "ordhc"
author = "The ordhc developers"
copyright = author
version = release = ordhc.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "answers",
    "commands",
    "included",
    "stale",
    "typed",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_ext",
    "_templates",
    "tutorials/pages/index.rst",
    "**/README.md",
    "**/GALLERY_HEADER.rst",
]
suppress_warnings = ["config.cache"]
default_role = "py:obj"
# Options begin with two hyphens, also in sentences.
smartquotes = False

# Markdown.
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Python.
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False


def _groups(documentation: str) -> dict[str, list[str]]:
    """Return the members of a class by group, listed in its docstring as "* Group: `member`"."""
    found = re.findall(r"^ *\* ([^:`]+): ((?:`\w+`,?\s*)+)$", documentation, re.MULTILINE)
    return {group: re.findall(r"\w+", members) for group, members in found}


autosummary_context = {
    # Names of `ordhc` are not listed again under the modules that define them.
    "elsewhere": {"ordhc.io": ordhc.__all__, "ordhc.errors": ordhc.__all__},
    # The pages of these classes show their members in groups.
    "groups": {"ordhc.Dendrogram": _groups(ordhc.Dendrogram.__doc__)},
}
# Classes beside functions of the same name, where file systems ignore case.
autosummary_filename_map = {
    f"ordhc.{name}": f"ordhc.{name}-class"
    for name in ordhc.__all__
    if name[0].isupper() and name.lower() in ordhc.__all__
}
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autodoc_default_options = {
    # scikit-learn adds these methods to its estimators, with links to its own pages.
    "exclude-members": "__init__,__new__,get_metadata_routing,set_fit_request,set_output,set_score_request"
}
add_module_names = False
toc_object_entries = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Pictures.
plot_formats = [("svg", 96), ("png", 144)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
plot_working_directory = str(HERE)

sphinx_gallery_conf = {
    "examples_dirs": ["examples", "tutorials/scripts"],
    "gallery_dirs": ["gallery", "tutorials/pages"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "reference_url": {"ordhc": None},
    "doc_module": ("ordhc",),
    "backreferences_dir": None,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "thumbnail_size": (480, 336),
    "reset_modules": ("matplotlib", "figures.reset"),
    "run_stale_examples": False,
}

# The page.
html_theme = "pydata_sphinx_theme"
html_title = "ordhc"
html_short_title = "ordhc"
html_baseurl = _PROJECT["urls"]["Documentation"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "ordhc", "image_light": "_static/mark.svg", "image_dark": "_static/mark-dark.svg"},
    "icon_links": [
        {"name": "Source", "url": _PROJECT["urls"]["Source"], "icon": "fa-brands fa-github"},
    ],
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc", "sg_download_links"], "index": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": [], "guide": []}
