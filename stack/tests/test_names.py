"""Names and folders of the code: one word has one meaning, and every folder says what it is for."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from config.env import ROOT
from stack.tests import syntax

pytestmark = pytest.mark.slow

APPS: Final = ("audit", "config", "evidence", "incidents", "insights", "integrations", "reviews", "stack", "workflows")
APART: Final = {"tests", "migrations"}
# In these folders a module has the name of the thing that it is the model, page, form, command or listener of.
ASPECTS: Final = {
    "models",
    "views",
    "forms",
    "templatetags",
    "commands",
    "listeners",
    "methods",
    "bench",
    "tour",
    "lifecycle",
}
# The stand-ins and the sandbox use the vendors' words: their *Incident* is PagerDuty's, their *Person* is Slack's.
VENDORS_WORDS: Final = ("integrations/slack/fake/", "integrations/pagerduty/fake/", "integrations/sandbox/")
# One in each vendor's folder, with one meaning.
A_VENDOR: Final = {"Setup", "Wire"}
# The nouns that a vendor and we use for the same sort of thing; the stand-ins use no other name of ours.
BOTH_SAY: Final = {
    "Alert",
    "Channel",
    "Group",
    "Incident",
    "Layer",
    "OnCall",
    "Person",
    "Policy",
    "Trigger",
}
ANYWHERE: Final = {"Command"}  # Django wants each command to be a class of this name
LARGEST_FOLDER: Final = 14


def modules() -> Iterator[Path]:
    """Yield every module of the product, by its path in the repository."""
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if not APART & set(path.relative_to(ROOT).parts):
                yield path.relative_to(ROOT)


def classes() -> dict[str, list[str]]:
    """Return the modules that define each public class."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in syntax.tree(ROOT / path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.as_posix())
    return places


def test_a_class_name_has_one_meaning() -> None:
    found = {name: [one for one in where if not one.startswith(VENDORS_WORDS)] for name, where in classes().items()}
    several = {name: where for name, where in found.items() if len(where) > 1 and name not in A_VENDOR | ANYWHERE}
    assert not several


def test_a_stand_in_uses_no_name_of_ours_but_its_vendors_nouns() -> None:
    found = {name: where for name, where in classes().items() if name not in BOTH_SAY | A_VENDOR | ANYWHERE}
    mixed = {name: where for name, where in found.items() if len({one.startswith(VENDORS_WORDS) for one in where}) > 1}
    assert not mixed


def test_what_one_vendors_stand_in_calls_by_a_name_so_does_the_others() -> None:
    """A name may occur once per vendor, in the same place; otherwise it has two meanings."""
    apart: dict[str, list[str]] = {}
    for name, where in classes().items():
        theirs = [one for one in where if one.startswith(VENDORS_WORDS)]
        same = {re.sub("slack|pagerduty", "*", one) for one in theirs}
        if len(theirs) > 1 and len({one.rpartition("/")[0] for one in same}) > 1:
            apart[name] = theirs
    assert not apart


@pytest.mark.parametrize("app", [*APPS, "integrations/slack", "integrations/pagerduty"])
def test_a_module_name_has_one_meaning_within_an_app(app: str) -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        inside = path.as_posix().startswith(f"{app}/") and not (app == "integrations" and len(path.parts) > 2)
        parallel = ASPECTS & set(path.parts) or path.as_posix().startswith((*VENDORS_WORDS, "evidence/formats/"))
        if inside and not parallel and not path.stem.startswith("__"):
            places[path.stem].append(path.as_posix())
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_every_folder_says_in_a_sentence_what_it_is_for() -> None:
    folders = {path.parent for path in modules() if "management" not in path.parts and "templatetags" not in path.parts}
    silent = [
        folder.as_posix()
        for folder in sorted(folders)
        if not ast.get_docstring(syntax.tree(ROOT / folder / "__init__.py"))
    ]
    assert not silent


def test_no_folder_is_a_heap() -> None:
    counts: dict[str, int] = defaultdict(int)
    for path in modules():
        if path.stem != "__init__":
            counts[path.parent.as_posix()] += 1
    heaps = {folder: n for folder, n in counts.items() if n > LARGEST_FOLDER}
    assert not heaps
