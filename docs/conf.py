"""What Sphinx is told: pages are the Markdown files where they lie, in the order in which README names them.

`make docs` builds the site. Nothing in it is fetched by who reads it: fonts are the system's, search is a file.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
NAMED: Final = "## Documentation"
LINK: Final = re.compile(r"\]\(([\w./-]+)\.md\)")
TREE: Final = "```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"
ALL_DECISIONS: Final = "```{toctree}\n:glob:\n:reversed:\n\n[0-9]*\n```\n"

project = "Firekind"
root_doc = "README"
exclude_patterns = [one.name for one in ROOT.iterdir() if one.is_dir() and one.name != "docs"]
extensions = ["myst_parser"]
nitpicky = True
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Firekind"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def setup(app: Any) -> None:
    """Let pages be ordered as they are read, and files that pages name by themselves be copied after it."""
    app.connect("source-read", ordered)
    app.connect("build-finished", finished)


def ordered(app: Any, name: str, source: list[str]) -> None:
    """Append what is in the side bar: to README what it names, to the list of decisions all of them."""
    if name == root_doc:
        source[0] += "\n" + "\n".join(trees(source[0]))
    if name == "docs/decisions/README":
        source[0] += "\n" + ALL_DECISIONS


def trees(readme: str) -> Iterator[str]:
    """Yield a part of the side bar for each heading under which README names pages."""
    yield TREE.format(caption="Start", pages="Firekind <self>")
    for part in re.split(r"^### ", readme.partition(NAMED)[2], flags=re.MULTILINE)[1:]:
        pages = dict.fromkeys(LINK.findall(part))
        yield TREE.format(caption=part.partition("\n")[0], pages="\n".join(pages))


def finished(app: Any, failed: Exception | None) -> None:
    """Put pictures where pages in their own HTML name them, and README where a browser begins."""
    if failed is None:
        built = Path(app.outdir)
        shutil.copytree(ROOT / "docs" / "images", built / "docs" / "images", dirs_exist_ok=True)
        shutil.copy(built / f"{root_doc}.html", built / "index.html")
