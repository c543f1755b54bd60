"""How Sphinx builds the site: scripts/docs calls it on a copy of docs/ that scripts/reference.py has completed."""

from typing import Any

from docutils import nodes

project = "pullback"
author = "The pullback authors"
html_title = "pullback"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
exclude_patterns = ["live"]
add_module_names = False
toc_object_entries = False  # the table at the top of a page has them
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "top_of_page_buttons": [],
}


def plain(app: Any, env: Any, node: nodes.Element, shown: nodes.TextElement) -> nodes.Text | None:
    """Python's own types, which have no entry here, without their module."""
    module, _, name = node["reftarget"].rpartition(".")
    return nodes.Text(name) if module == "builtins" else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("missing-reference", plain)
