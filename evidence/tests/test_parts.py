"""What a profile consists of besides its stacks is shown with its share."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from django.test import Client

from evidence.analysis import parts, sentence
from evidence.formats.perf import perf_script
from evidence.formats.pprof import pprof
from evidence.formats.tests.made_pprof import Made
from evidence.tests.conftest import Bring
from evidence.tree import calltree
from incidents.models import Incident


def labelled() -> Made:
    """Make a profile of two routes."""
    made = Made()
    main = made.location("main")
    made.sample([main], [3, 30], labels=made.label("route", "/pay"))
    made.sample([main], [1, 70], labels=made.label("route", "/cart"))
    return made


def said(tree: calltree.CallTree, type: int) -> list[tuple[str, list[tuple[str, int, float]]]]:
    """Write parts as plain values."""
    return [(part.title, [(row.name, row.value, row.share) for row in part.rows]) for part in parts.of(tree, type=type)]


def test_labels_are_shared_out_by_the_chosen_sample_type() -> None:
    tree = calltree.build(pprof.read(labelled().bytes()))
    assert said(tree, 0) == [("Label route", [("/pay", 3, 0.75), ("/cart", 1, 0.25)])]
    assert said(tree, 1) == [("Label route", [("/cart", 70, 0.7), ("/pay", 30, 0.3)])]


def test_threads_are_told_when_there_are_several() -> None:
    text = "a 1 1.5: cycles: \n\t1 main (/a)\n\nb 2 1.6: cycles: \n\t1 main (/a)\n\n"
    assert said(calltree.build(perf_script.read(text.encode())), 0) == [("Threads", [("a", 1, 0.5), ("b", 1, 0.5)])]
    alone = calltree.build(perf_script.read(text[: len(text) // 2].encode()))
    assert parts.of(alone, type=0) == []


def test_only_the_largest_are_shown_and_the_rest_counted() -> None:
    made = Made()
    for number in range(20):
        made.sample([made.location("main")], [1, 1 + number], labels=made.label("shard", str(number)))
    (part,) = parts.of(calltree.build(pprof.read(made.bytes())), type=1)
    assert part.rows[0].name == "19"
    assert (len(part.rows), part.more) == (parts.SHOWN, 20 - parts.SHOWN)


def test_a_difference_says_what_grew_and_what_shrank() -> None:
    made = Made()
    made.sample([made.location("grown")], [2, 20])
    made.sample([made.location("shrunk")], [-3, -30])
    said = sentence.of(calltree.build(pprof.read(made.bytes()))).text
    assert "−10 ns net (20 ns grew, 30 ns shrank)" in said


@pytest.mark.django_db
def test_the_page_of_a_profile_shows_its_labels(browse: Any, ada: Any, incident: Incident, bring: Bring) -> None:
    evidence = bring(incident, gzip.compress(labelled().bytes()))
    client: Client = browse(ada)
    page = client.get(f"/incidents/{incident.codename}/evidence/{evidence.n}/?type=1").content.decode()
    assert "Label route: /cart 70" in " ".join(page.split())


def test_few_samples_are_those_of_the_event_that_is_shown() -> None:
    rare = "app 1 1.5: 1 page-faults: \n\t1 main (/a)\n\n"
    often = "app 1 1.6: 100 cycles: \n\t1 main (/a)\n\n" * 150
    tree = calltree.build(perf_script.read((rare + often).encode()))
    assert sentence.of(tree).guards == ()
    assert "Only 1 sample, so percentages are rough." in sentence.of(tree, type=0).guards
