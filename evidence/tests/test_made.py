"""Slow outputs are made in a separate process, few at a time, cached by tree and removed with it; waits are bounded."""

from __future__ import annotations

import gzip
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Entry
from evidence.analysis import compare
from evidence.formats.pprof import pprof
from evidence.intake import made, storage, stored_tree, withdrawing
from evidence.models import Evidence
from evidence.reader import isolated
from evidence.tests.conftest import Bring
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db
PARTS = ("pprof", "folded", "search.json?q=hash", "search.json?q=/h.sh/&root=1", "search.json?q=idle&idle=0")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Have even small trees processed separately, and note which jobs began."""
    noted: list[bytes] = []

    def run(work: bytes, given: bytes, *, room: Path, timeout_s: float) -> isolated.Ended:
        noted.append(work)
        return really(work, given, room=room, timeout_s=timeout_s)

    really = isolated.run
    monkeypatch.setattr(isolated, "run", run)
    return noted


@pytest.fixture
def large(
    incident: Incident, bring: Bring, begun: list[bytes], monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> Evidence:
    """Evidence that counts as large, in its own storage."""
    settings.FIREKIND = replace(settings.FIREKIND, evidence_storage=str(tmp_path))
    found = bring(incident)
    begun.clear()
    monkeypatch.setattr(made, "SMALL", 0)
    return found


@pytest.mark.parametrize("part", PARTS)
def test_what_is_made_apart_is_the_same_and_made_once(
    part: str, large: Evidence, begun: list[bytes], ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, address = browse(ada), f"{large.get_absolute_url()}{part}"
    first, second = (client.get(address).getvalue() for _ in range(2))
    assert begun == [b"m"]
    monkeypatch.setattr(made, "SMALL", 1 << 30)
    here = client.get(address).getvalue()
    assert begun == [b"m"]
    if part == "pprof":
        first, second, here = (str(pprof.read(gzip.decompress(one)).totals).encode() for one in (first, second, here))
    assert first == second == here
    assert first


def test_what_is_asked_differently_is_made_again(
    large: Evidence, begun: list[bytes], ada: Person, browse: Open
) -> None:
    client = browse(ada)
    for part in ("search.json?q=hash", "search.json?q=render", "folded"):
        assert client.get(f"{large.get_absolute_url()}{part}").getvalue()
    assert begun == [b"m"] * 3


@pytest.mark.parametrize("part", ["pprof", "folded", "search.json?q=hash"])
def test_one_too_many_is_told_when_to_come_back_and_nothing_is_noted(
    part: str, large: Evidence, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = threading.BoundedSemaphore(1)
    full.acquire()
    monkeypatch.setattr(made, "_turns", full)
    monkeypatch.setattr(made, "PATIENCE_S", 0.01)
    answer = browse(ada).get(f"{large.get_absolute_url()}{part}")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert b"Try again" in answer.content
    assert answer["Content-Type"].startswith("application/json" if "json" in part else "text/plain")
    assert not Entry.objects.filter(kind="export").exists()


def test_many_who_ask_for_the_same_have_it_made_once(
    large: Evidence, begun: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "PATIENCE_S", 60.0)
    with ThreadPoolExecutor(8) as people:
        asked = [people.submit(made.of, large.tree, "folded", type=0) for _ in range(8)]
        read = set()
        for one in asked:
            with one.result() as file:
                read.add(file.read())
    assert begun == [b"m"]
    assert len(read) == 1
    assert not made._under_way


def test_what_was_kept_needs_no_turn(
    large: Evidence, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, address = browse(ada), f"{large.get_absolute_url()}pprof"
    client.get(address).getvalue()
    monkeypatch.setattr(made, "_turns", threading.Semaphore(0))
    monkeypatch.setattr(made, "PATIENCE_S", 0.01)
    assert client.get(address).getvalue()


def test_it_goes_with_its_tree(large: Evidence, ada: Person, browse: Open) -> None:
    client = browse(ada)
    for part in ("pprof", "search.json?q=hash"):
        client.get(f"{large.get_absolute_url()}{part}").getvalue()
    assert len(list(made._folder().iterdir())) == 2
    withdrawing.forget(large.original, "")
    assert len(list(made._folder().iterdir())) == 2
    tree = large.tree
    Evidence.objects.update(tree="")
    withdrawing.forget("", tree)
    assert not list(made._folder().iterdir())


def test_what_nobody_asks_for_and_what_is_too_much_goes(
    large: Evidence, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = browse(ada)

    def ask(words: str) -> None:
        assert client.get(f"{large.get_absolute_url()}search.json?q={words}").status_code == 200

    ask("hash")
    (first,) = made._folder().iterdir()
    os.utime(first, (time.time() - made.KEPT_S - 1,) * 2)
    ask("render")
    (second,) = made._folder().iterdir()
    assert second != first
    monkeypatch.setattr(made, "KEPT_BYTES", second.stat().st_size * 3 // 2)
    os.utime(second, (time.time() - 10,) * 2)
    ask("price")
    (third,) = made._folder().iterdir()
    assert third != second


def test_what_cannot_be_made_is_answered_and_leaves_nothing(
    large: Evidence, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "run", lambda *_, **__: isolated.Ended(-9, "killed"))
    answer = browse(ada).get(f"{large.get_absolute_url()}pprof")
    assert answer.status_code == 503
    assert not list(made._folder().iterdir())


def holding(words: bytes) -> list[str]:
    """Name all files in storage, and those made from them, that contain some words."""
    folder = storage.store().scratch().parent
    return [one.name for one in folder.rglob("*") if one.is_file() and words in one.read_bytes()]


@pytest.mark.parametrize("withdrawn", [0, 1, 2])
def test_nothing_is_kept_of_a_comparison_once_a_side_is_withdrawn(
    large: Evidence,
    bring: Bring,
    ada: Person,
    browse: Open,
    withdrawn: int,
    django_capture_on_commit_callbacks: Any,
) -> None:
    sides = [bring(large.incident, f"main;names_of_{n} 60\nmain;other 40\n".encode(), title="CPU") for n in range(3)]
    client, address = browse(ada), f"{large.incident.get_absolute_url()}evidence/compare"
    asked = f"control={sides[0].n}&with={sides[1].n},{sides[2].n}"
    for place in ("/", ".json", "/"):
        assert client.get(f"{address}{place}?{asked}").status_code == 200
    assert len(holding(f"names_of_{withdrawn}".encode())) >= 3
    with django_capture_on_commit_callbacks(execute=True):
        withdrawing.withdraw(sides[withdrawn], by=ada, at=timezone.now())
    assert holding(f"names_of_{withdrawn}".encode()) == []


def test_what_is_merged_while_a_side_is_withdrawn_is_not_kept(
    large: Evidence, bring: Bring, django_capture_on_commit_callbacks: Any, ada: Person
) -> None:
    other = bring(large.incident, b"main;names_of_customers 60\n", title="CPU")
    trees = [large.tree, other.tree]
    opened = [stored_tree.opened(tree) for tree in trees]

    def merge() -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            withdrawing.withdraw(other, by=ada, at=timezone.now())
        return compare.merge(opened, types=[0, 0], labels=["1", "2"])

    assert len(made.merged(trees, types=[0, 0], merge=merge)) > 1
    assert holding(b"names_of_customers") == []


def test_a_comparison_is_merged_once(large: Evidence, bring: Bring) -> None:
    trees = [large.tree, bring(large.incident, b"main;other 60\n", title="CPU").tree]
    opened, merges = [stored_tree.opened(tree) for tree in trees], []

    def merge() -> Any:
        merges.append(1)
        return compare.merge(opened, types=[0, 0], labels=["1", "2"])

    first, second = (made.merged(trees, types=[0, 0], merge=merge) for _ in range(2))
    assert merges == [1]
    assert first.names == second.names
    assert first.totals.tolist() == second.totals.tolist()
    for one in Path(made._folder()).iterdir():
        one.write_bytes(b"spoilt")
    assert made.merged(trees, types=[0, 0], merge=merge).names == first.names


def test_what_a_killed_process_was_making_is_removed(large: Evidence, ada: Person, browse: Open) -> None:
    left = made._folder() / f"{made.MAKING}left"
    left.mkdir()
    (left / "made").write_bytes(b"half of it")
    os.utime(left, (0, 0))
    assert browse(ada).get(f"{large.get_absolute_url()}folded").getvalue()
    assert not left.exists()
