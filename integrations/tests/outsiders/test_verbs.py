"""Every verb checks access itself, under the incident's lock: for a person who is shut out the incident is missing."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evidence.models import Evidence, Finding
from incidents import lifecycle
from incidents.lifecycle import rules
from incidents.models import Event, Incident, Participant
from integrations.tests.mortal import Process, mortal
from integrations.tests.outsiders import verbs
from integrations.tests.outsiders.scene import ANONYMOUS, MEMBER, OUTSIDER, OUTSIDERS, Scene
from integrations.tests.outsiders.verbs import ACTED, ELSEWHERE, READS, UNASKED, Case, Verb
from stack.short_runs import WalkPart
from workflows import ports
from workflows.planning.captures import ProfileSource

OURS = ("audit", "evidence", "incidents", "reviews", "slack", "workflows")


class Profiler:
    """Lists one source, which is never asked for a profile."""

    def sources(self) -> list[ProfileSource]:
        """Return the operator's source."""
        return [ProfileSource("checkout-api", ("cpu",))]


@pytest.fixture
def profiled(scene: Scene) -> Iterator[None]:
    with ports.using(chat=scene.house.chat, pager=scene.duty.pager, profiler=Profiler()):  # type: ignore[arg-type]  # it is never asked
        yield


def test_every_verb_has_its_row() -> None:
    missing = {*verbs.of_lifecycle()} - {*ACTED, *UNASKED}
    missing |= {*verbs.of_packages()} - {*ELSEWHERE, *READS}
    assert not missing, f"{sorted(missing)} would not be held to it: {verbs.HOW}."
    assert {*ACTED, *UNASKED} == {*verbs.of_lifecycle()}
    assert {*READS} <= {*verbs.of_packages()}


def test_no_verb_can_be_called_without_saying_who_acts() -> None:
    asked = {name: verb for name, verb in verbs.of_lifecycle().items() if name in ACTED}
    asked |= {name: verb for name, verb in verbs.of_packages().items() if name not in READS}
    ways = {one.__name__: one for one in (rules.changing, rules.held, rules.must_see)}
    every: dict[str, Callable[..., Any]] = {**asked, **ways}
    for name, verb in every.items():
        by = inspect.signature(verb).parameters["by"]
        assert (by.kind, by.default) == (by.KEYWORD_ONLY, by.empty), name


def test_none_of_them_lets_anybody_outside_do_anything(
    scene: Scene, hidden: Incident, profiled: None, part: WalkPart
) -> None:
    other = scene.declare("Mail is late")
    for who in (one for one in OUTSIDERS if one != ANONYMOUS):
        case, before, moved = case_of(scene, who, hidden, other), everything(), marks(hidden)
        for name, verb in part.of({**ACTED, **ELSEWHERE}.items()):
            with pytest.raises(lifecycle.NotThere):
                refused(name, who, verb, case)
            assert marks(hidden) == moved, f"{name} as {OUTSIDERS[who]}"
        assert everything() == before, OUTSIDERS[who]


def test_nor_does_any_of_them_say_that_it_is_a_drill(scene: Scene, hidden: Incident, profiled: None) -> None:
    drill = lifecycle.declare(
        "Practise", by=scene.person(MEMBER), at=timezone.now(), type=scene.house.type("security"), is_drill=True
    )
    case = replace(case_of(scene, OUTSIDER, hidden, scene.declare("Mail is late")), incident=drill)
    for name, verb in {**ACTED, **ELSEWHERE}.items():
        with pytest.raises(lifecycle.NotThere):
            refused(name, OUTSIDER, verb, case)


def test_they_do_for_those_who_take_part(scene: Scene, hidden: Incident, profiled: None) -> None:
    """The same calls pass the access check for participants; other errors are possible."""
    case = case_of(scene, MEMBER, hidden, scene.declare("Mail is late", type="security"))
    before = marks(hidden)
    for verb in {**ACTED, **ELSEWHERE}.values():
        with contextlib.suppress(lifecycle.Refused):
            verb(case)
    assert marks(hidden) != before


def test_each_of_them_is_recorded_as_a_whole_or_not_at_all(
    scene: Scene, hidden: Incident, profiled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever its process is killed, nothing of it is half recorded: a single commit is the last thing it does."""
    case = case_of(scene, MEMBER, hidden, scene.declare("Mail is late", type="security"))
    for name, verb in {**ACTED, **ELSEWHERE}.items():
        with transaction.atomic():
            with contextlib.suppress(lifecycle.Refused), mortal(monkeypatch, Process()) as process:
                verb(case)
                assert process.commits == [process.moments], name
            transaction.set_rollback(True)


def test_what_is_hidden_from_them_is_no_original_either(scene: Scene, hidden: Incident) -> None:
    ended = scene.declare("Mail is late")
    out, at = scene.person(OUTSIDER), timezone.now()
    lifecycle.bring_in(ended, people=[out], by=None, at=at)
    ended = lifecycle.retype(ended, to=scene.house.type("security"), by=out, at=at)
    before = everything()
    with pytest.raises(lifecycle.BadInput) as bad:
        lifecycle.duplicate(ended, of=hidden, by=out, at=at)
    assert bad.value.field == "of"
    assert everything() == before


def test_what_firekind_writes_later_for_somebody_shut_out_is_kept(scene: Scene, hidden: Incident) -> None:
    out, at = scene.person(OUTSIDER), timezone.now()
    event = lifecycle.remark(hidden, "page", by=None, author=out, at=at, text="acknowledged the page")
    assert Event.objects.get(pk=event.pk).by == out
    with pytest.raises(lifecycle.NotThere):
        lifecycle.remark(hidden, "page", by=out, at=at, text="acknowledged the page")


def case_of(scene: Scene, who: str, hidden: Incident, other: Incident) -> Case:
    seen = copy.copy(hidden)
    seen.private, seen.room = False, 1  # as it was read before
    evidence = Evidence.objects.select_related("incident").get(incident=hidden, n=1)
    finding = Finding.objects.select_related("incident").get(incident=hidden, n=1)
    person = scene.person(who)
    asked = {"by": person, "at": timezone.now()}
    return Case(person, seen, other, scene.house.type("major"), evidence, finding, asked)


def refused(name: str, who: str, verb: Verb, case: Case) -> None:
    try:
        verb(case)
    except lifecycle.Refused as refusal:
        raise AssertionError(f"{name} as {OUTSIDERS[who]}: {refusal}") from refusal


def marks(incident: Incident) -> tuple[Any, ...]:
    """Return what every verb changes, quick to read."""
    found = Incident.objects.values_list("revision", "last_n", "status", "lead", "type").get(pk=incident.pk)
    return (*found, Participant.objects.filter(left_at=None).count(), Evidence.objects.count())


def everything() -> tuple[dict[str, list[str]], list[str]]:
    """Return every row of all our tables, and every stored file."""
    rows = {one.__name__: sorted(map(repr, one._default_manager.values_list())) for one in models()}
    files = sorted(str(one) for one in Path(settings.FIREKIND.evidence_storage).rglob("*") if one.is_file())
    return rows, files


def models() -> list[Any]:
    return [one for label in OURS for one in apps.get_app_config(label).get_models()]
