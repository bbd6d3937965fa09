"""Files that pages name together are served as one, complete and in order, and do not affect each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from config.env import ROOT
from config.http.static_files import Joined, Together
from incidents import bundles
from incidents.bundles import Bundle

TEMPLATES = Path(settings.BASE_DIR, "templates")
STATIC = Path(settings.BASE_DIR, "static")
BUNDLES = list(bundles.named_in(TEMPLATES))


def ids(bundle: Bundle) -> str:
    return Path(bundle.name).name


def test_every_page_gets_its_own_and_what_all_have() -> None:
    assert {bundles.of(tag, ()) for tag in bundles.EVERYWHERE} < set(BUNDLES)


@pytest.mark.parametrize("bundle", BUNDLES, ids=ids)
def test_a_bundle_is_all_of_its_parts_in_their_order(bundle: Bundle) -> None:
    content = Joined().open(bundle.name).read()
    at = 0
    for part in bundle.parts:
        at = content.index((STATIC / part).read_bytes(), at) + 1


@pytest.mark.parametrize("bundle", BUNDLES, ids=ids)
def test_what_is_joined_would_say_the_same_alone(bundle: Bundle) -> None:
    for part in bundle.parts:
        words = (STATIC / part).read_text(encoding="utf-8")
        if part.endswith(".css"):
            assert not re.search(r"@charset|@import|@namespace|url\((?!['\"]?data:)", words), part
            assert words.count("{") == words.count("}"), part
        elif part.startswith(bundles.OURS):
            assert not re.search(r"^(import|export)\b|^await\b|sourceMappingURL", words, re.MULTILINE), part


def test_all_that_templates_name_is_gathered() -> None:
    gathered = {name for name, _ in Together().list(None)}
    named = 0
    for path in TEMPLATES.rglob("*.html"):
        for tag, names in re.findall(r"{% *(styles|scripts)\b(.*?)%}", path.read_text(encoding="utf-8")):
            found = bundles.of(tag, [name.strip("\"'") for name in names.split()])
            assert all((STATIC / part).is_file() for part in found.parts), path
            assert found.name in gathered or len(found.parts) == 1, path
            named += 1
    assert named > len(BUNDLES)


def test_two_different_bundles_have_two_names() -> None:
    assert len({one.name for one in BUNDLES}) == len({one.parts for one in BUNDLES})


def test_every_style_sheet_closes_what_it_opens() -> None:
    found = [
        one for folder in ("static/firekind", "reviews", "integrations") for one in ROOT.glob(f"{folder}/**/*.css")
    ]
    assert len(found) > 20
    for one in found:
        words = one.read_text(encoding="utf-8")
        assert words.count("{") == words.count("}"), one
        assert words.rstrip().endswith("}"), one
