"""How Sphinx builds the site: scripts/docs calls it on a copy of docs/ that scripts/reference.py has completed."""

import html
from pathlib import Path
from typing import Any

from docutils import nodes

project = "pullback"
author = "The pullback authors"
project_copyright = "the pullback authors, under the MIT licence"
html_title = "pullback"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
exclude_patterns = ["live", "symptoms.txt"]
add_module_names = False
toc_object_entries = False  # the table at the top of a page has them
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
html_theme = "furo"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_copy_source = False
html_show_sphinx = False
html_use_index = False  # 95 000 pixels high; the search finds names
REPOSITORY = "https://github.com/pullback-autograd/pullback"
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": ["view", "edit"],
}


def plain(app: Any, env: Any, node: nodes.Element, shown: nodes.TextElement) -> nodes.Text | None:
    """Python's own types, which have no entry here, without their module."""
    module, _, name = node["reftarget"].rpartition(".")
    return nodes.Text(name) if module == "builtins" else None


def source(app: Any, name: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Where a page that the build has written comes from: its front matter says so, for the links to source and edit."""
    file = (context.get("meta") or {}).get("source")
    if file is None:
        return
    context["page_source_suffix"] = context["page_source_suffix"] if file else ""
    context["theme_source_view_link"] = f"{REPOSITORY}/blob/main/{file}"
    context["theme_source_edit_link"] = f"{REPOSITORY}/edit/main/{file}"


def describe(app: Any, name: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """The first paragraph of a page as its description, which search engines show."""
    paragraph = next(tree.findall(nodes.paragraph), None) if tree else None
    if paragraph:
        text = html.escape(" ".join(paragraph.astext().split())[:300])
        context["metatags"] += f'<meta name="description" content="{text}">'


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("missing-reference", plain)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", source)
