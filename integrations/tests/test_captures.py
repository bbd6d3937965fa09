"""Captures as effects: taken once, stored as evidence, retried while a source is busy, failed with a message."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from evidence.intake import withdrawing
from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import Event, Incident
from incidents.policies import types
from incidents.policies.policy import Capture
from integrations.profilers import fake
from integrations.profilers.profiler import ListedProfiler
from integrations.profilers.sources import Listed
from integrations.tests.house import House
from workflows import ports
from workflows.effects import effect_queue
from workflows.effects.effect_queue import HASTY, SLOW
from workflows.models import Effect
from workflows.performing import capturing, perform
from workflows.planning.actions import EFFECTS, EVIDENCE
from workflows.reconcile import reconcile, retyping, sweep
from workflows.status import progress

pytestmark = pytest.mark.usefixtures("no_pages")


@dataclass(slots=True)
class Captures:
    """A house whose ambiguous incidents capture CPU from a stand-in program on declare and on mitigate."""

    house: House
    go: fake.FakePprof

    def declare(self) -> Incident:
        """Declare and settle."""
        return self.house.settle(
            lifecycle.declare("Slow", by=self.house.person("dee"), at=timezone.now(), type=self.house.type("ambiguous"))
        )

    def calls(self) -> int:
        """Return how many profiles the program was asked for."""
        return len(self.go.asked)


@pytest.fixture
def captures(house: House) -> Iterator[Captures]:
    """Put a program with net/http/pprof behind the profiler port, and add a policy that captures from it."""
    go = fake.FakePprof()
    type = house.type("ambiguous")
    asked = tuple(Capture("checkout-api", "cpu", on, 2) for on in ("declare", "mitigate"))
    types.edit(type, policy=replace(type.policy, captures=asked), by=None, at=timezone.now())
    with fake.serving(go) as url:
        listed = Listed("checkout-api", "pprof", f"{url}/debug/pprof", {"cpu": "", "heap": ""}, internal=True)
        with ports.using(chat=house.chat, profiler=ListedProfiler([listed], environ={})):
            yield Captures(house, go)


def owed(incident: Incident) -> Effect:
    return Effect.objects.get(incident=incident, kind="capture")


def planned(captures: Captures) -> Incident:
    """An incident that is planned and whose capture has not been taken."""
    house = captures.house
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    return incident


def test_before_and_after_are_kept_as_evidence(captures: Captures) -> None:
    incident = captures.declare()
    lifecycle.mitigate(incident, by=None, at=timezone.now())
    captures.house.settle(incident)
    found = list(Evidence.objects.filter(incident=incident).order_by("n"))
    assert [(one.phase, one.title) for one in found] == [
        ("during", "2 s of CPU from checkout-api"),
        ("after", "2 s of CPU from checkout-api"),
    ]
    origin = found[0].origin
    assert (origin["via"], origin["source"], origin["kind"]) == ("capture", "checkout-api", "cpu")
    assert origin["query"] == "GET /debug/pprof/profile?seconds=2"
    assert found[0].window_from is not None
    assert (found[0].window_to or found[0].window_from) - found[0].window_from == timedelta(seconds=2)


def test_a_retype_says_of_each_capture_that_it_is_no_longer_taken_before_and_after(captures: Captures) -> None:
    house, type = captures.house, captures.house.type("ambiguous")
    repeated = replace(type.policy, captures=(Capture("checkout-api", "cpu", "declare", 2, repeat=5, every_min=5),))
    types.edit(type, policy=repeated, by=None, at=timezone.now())
    incident = planned(captures)
    for queue in (EFFECTS, EVIDENCE):
        perform.drain(incident.pk, queue=queue, side_by_side=False)
    assert Effect.objects.filter(incident=incident, kind="capture", state="waiting").count() == 4
    shown = retyping.preview(incident, to=house.type("internal"), by=house.person("dee"))
    says = "- no longer capture 2 s of CPU from checkout-api (4 times)"
    assert says in map(str, shown.lines)
    incident = house.retype(incident, "internal")
    assert Effect.objects.filter(incident=incident, kind="capture", state="cancelled").count() == 4
    cards = [str(one.attachments) for one in house.slack.messages(house.channel(incident))]
    assert sum(says[2:] in card for card in cards) == 1


def test_reconciling_again_asks_nobody(captures: Captures) -> None:
    incident = captures.declare()
    before = captures.calls()
    for _ in range(3):
        assert reconcile.reconcile(incident.pk, at=timezone.now()).is_empty
        perform.drain(incident.pk, queue=EVIDENCE, side_by_side=False)
    assert captures.calls() == before == 1
    assert not sweep.unsettled()


def test_neither_queue_takes_the_others_effects(captures: Captures) -> None:
    incident = planned(captures)
    perform.drain(incident.pk, side_by_side=False)
    assert (captures.calls(), owed(incident).state) == (0, "waiting")
    assert sweep.due(at=timezone.now(), kinds=SLOW) == [incident.pk]
    assert not sweep.due(at=timezone.now(), kinds=HASTY)
    captures.house.slack.calls.clear()
    perform.drain(incident.pk, queue=EVIDENCE, side_by_side=False)
    assert (captures.calls(), owed(incident).state) == (1, "done")
    assert not captures.house.writes()


def test_without_chat_captures_are_taken_all_the_same(captures: Captures) -> None:
    with ports.using(profiler=ports.profiler()):
        incident = captures.declare()
        captures.house.settle(incident)
    assert Evidence.objects.filter(incident=incident).count() == 1
    assert set(Effect.objects.filter(incident=incident).values_list("kind", flat=True)) == {"capture"}


def test_a_profile_that_cannot_be_stored_is_taken_again_later_and_the_page_says_so(captures: Captures) -> None:
    incident, folder = planned(captures), Path(settings.FIREKIND.evidence_storage)
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder.rename(folder.with_name("beside"))
    folder.write_bytes(b"")  # in the place of the folder
    try:
        perform.drain(incident.pk, queue=EVIDENCE, side_by_side=False)
    finally:
        folder.unlink()
        beside.rename(folder)
    (line,) = [one for one in progress.of(incident).effects if one.kind == "capture"]
    assert (line.state, "Evidence storage can't be used" in line.detail) == ("waiting", True)
    captures.house.settle(incident)
    assert Evidence.objects.filter(incident=incident).count() == 1


def test_a_busy_program_is_asked_again_later_and_the_page_says_so(captures: Captures) -> None:
    captures.go.busy = True
    incident = planned(captures)
    perform.drain(incident.pk, queue=EVIDENCE, side_by_side=False)
    (line,) = [one for one in progress.of(incident).effects if one.kind == "capture"]
    assert (line.state, "retrying at" in line.detail, "is busy" in line.detail) == ("waiting", True, True)
    captures.go.busy = False
    captures.house.settle(incident)
    assert Evidence.objects.filter(incident=incident).count() == 1


def test_what_cannot_be_captured_fails_in_words_and_can_be_tried_again(captures: Captures) -> None:
    captures.go.next = [fake.SourceReply(403, b"forbidden\n")]
    incident = captures.declare()
    (line,) = [one for one in progress.of(incident).effects if one.kind == "capture"]
    assert (line.state, line.can_retry, "credentials" in line.detail) == ("failed", True, True)
    said = Event.objects.get(incident=incident, kind="failed").text
    assert said.startswith("Could not capture 2 s of CPU from checkout-api: checkout-api answered 403: forbidden.")
    assert progress.retry(line.id, incident, by=None, at=timezone.now())
    captures.house.settle(incident)
    assert owed(incident).state == "done"


def test_a_profile_that_was_kept_but_not_recorded_is_found_and_not_taken_again(captures: Captures) -> None:
    incident = planned(captures)
    (work,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=["capture"])
    profiler = ports.profiler()
    assert profiler is not None
    capturing.capture(profiler, work)  # and then the worker dies
    Effect.objects.filter(pk=work.effect.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    captures.house.settle(incident)
    assert (captures.calls(), Evidence.objects.filter(incident=incident).count()) == (1, 1)
    assert owed(incident).state == "done"


def test_a_profile_that_was_withdrawn_before_it_was_recorded_is_not_taken_again(captures: Captures) -> None:
    incident = planned(captures)
    (work,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=["capture"])
    profiler = ports.profiler()
    assert profiler is not None
    capturing.capture(profiler, work)  # and then the worker dies
    kept = Evidence.objects.select_related("incident").get(incident=incident)
    withdrawing.withdraw(kept, by=captures.house.person("dee"), at=timezone.now())
    Effect.objects.filter(pk=work.effect.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    captures.house.settle(incident)
    assert (captures.calls(), Evidence.objects.filter(incident=incident).count()) == (1, 1)
    assert owed(incident).state == "done"


def test_whoever_lost_the_claim_while_capturing_keeps_nothing(captures: Captures) -> None:
    incident = planned(captures)
    (late,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=["capture"])
    captures.house.hurry(incident)
    (work,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=["capture"])
    profiler = ports.profiler()
    perform.perform(profiler, work)
    assert perform.perform(profiler, late) == []
    assert Evidence.objects.filter(incident=incident).count() == 1


def test_a_running_capture_says_when_it_will_be_done(captures: Captures) -> None:
    incident = planned(captures)
    at = timezone.now()
    effect_queue.claim(incident.pk, at=at, limit=1, kinds=["capture"])
    (line,) = [one for one in progress.of(incident).effects if one.kind == "capture"]
    assert line.sentence == "capturing 2 s of CPU from checkout-api"
    assert line.ends_at == at + timedelta(seconds=2)


def test_somebody_asks_for_one_more(captures: Captures) -> None:
    incident = captures.declare()
    said = capturing.ask(
        incident, source="checkout-api", kind="heap", by=captures.house.person("dee"), at=timezone.now()
    )
    captures.house.settle(incident)
    assert said == "capture the heap from checkout-api"
    assert [asked.path for asked in captures.go.asked] == ["/debug/pprof/profile", "/debug/pprof/heap"]
    assert Event.objects.get(incident=incident, kind="asked").by == captures.house.person("dee")


def test_the_terminal_asks_for_one_more(captures: Captures) -> None:
    incident = captures.declare()
    out = io.StringIO()
    call_command("incident", "capture", incident.codename, "checkout-api", "cpu", "3", stdout=out, no_color=True)
    captures.house.settle(incident)
    assert out.getvalue().splitlines()[1] == "+ capture 3 s of CPU from checkout-api"
    assert captures.go.asked[-1].query == {"seconds": ["3"]}
    with pytest.raises(CommandError, match="There is no profile source"):
        call_command("incident", "capture", incident.codename, "nowhere")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"source": "http://127.0.0.1/"},
            "There is no profile source 'http://127.0.0.1/'. Configured sources: checkout",
        ),
        ({"source": "checkout-api", "kind": "mutex"}, "provides cpu, heap, not 'mutex'"),
        ({"source": "checkout-api", "seconds": 0}, "from 1 to 300"),
        ({"source": "checkout-api", "seconds": 9999}, "from 1 to 300"),
    ],
)
def test_what_cannot_be_asked_for_is_said_at_once(given: dict[str, Any], says: str, captures: Captures) -> None:
    incident = captures.declare()
    with pytest.raises(lifecycle.BadInput, match=says):
        capturing.ask(incident, by=None, at=timezone.now(), **given)


def test_the_lease_is_renewed_while_a_capture_lasts(captures: Captures) -> None:
    incident = planned(captures)
    (work,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=["capture"])
    looks = 0
    beaten = threading.Event()

    def in_hand() -> list[Effect]:
        nonlocal looks
        looks += 1
        if looks > 2:
            beaten.set()
        return [work.effect]

    with replace(effect_queue.CLAIMS, beats=30_000).renewed(in_hand, what="a capture"):
        assert beaten.wait(60)
