"""Create sample incidents with the verbs that every door uses, at past times.

An ended one is declared and ended in one transaction: its channel was never opened, so nothing of it is in Slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from io import BytesIO
from typing import Any

from django.db import transaction

from evidence.findings import findings
from evidence.intake import receiving
from evidence.models import Finding
from incidents import lifecycle
from incidents.models import Event, Incident, IncidentType, Person, Source
from reviews import editing
from stack.samples.sample_file import SampleIncident, SampleStep
from stack.story import profiles

MARK = "(Sample data: the demo wrote this. No one did any of it.)"


def make(incidents: Iterable[SampleIncident], *, now: datetime) -> list[Incident]:
    """Create them all, unless there are some: all or none, in one transaction."""
    with transaction.atomic():
        if Event.objects.filter(source=Source.SAMPLE).exists():
            return []
        return [_made(one, now=now) for one in incidents]


def _made(sample: SampleIncident, *, now: datetime) -> Incident:
    declared_at = now - sample.ago
    type = IncidentType.objects.select_related("current").get(slug=sample.type)
    incident = lifecycle.declare(
        sample.title,
        by=_person(sample.by),
        at=declared_at,
        source=Source.SAMPLE,
        type=type,
        summary=f"{sample.summary} {MARK}",
        services=sample.services,
    )
    for step in sample.steps:
        TAKEN[step.verb](incident, step, by=_person(step.by), at=declared_at + step.after, source=Source.SAMPLE)
    return incident


def _person(handle: str) -> Person:
    return Person.objects.get(email=f"{handle}@example.com")


def _lead(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    lifecycle.set_lead(incident, lead=by, by=by, at=at, source=source)


def _next(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    owner = _person(step.more.get("owner", step.by))
    lifecycle.state_next_step(incident, text=step.words, owner=owner, by=by, at=at, source=source)


def _bring(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    people = [_person(handle) for handle in step.more["who"]]
    lifecycle.bring_in(incident, people=people, by=by, at=at, source=source, because=step.words)


def _retype(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    to = IncidentType.objects.select_related("current").get(slug=step.more["to"])
    lifecycle.retype(incident, to=to, by=by, at=at, source=source, because=step.words)


def _measure(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    story, name = step.more["file"].split("/")
    more = {key: value for key, value in step.more.items() if key in {"phase", "variant", "is_control", "unit"}}
    body = BytesIO(profiles.make(story, name))
    receiving.receive(incident, body=body, title=step.words, by=by, via=source, at=at, file_name=name, **more)


def _claim(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    findings.claim(incident, text=step.words, by=by, at=at, source=source)


def _judge(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    finding = Finding.objects.get(incident=incident, n=step.more["claim"])
    rests: Mapping[str, Any] = {"supports": step.more.get("for", ()), "against": step.more.get("against", ())}
    findings.judge(finding, verdict=step.more["verdict"], text=step.words, by=by, at=at, source=source, **rests)


def _followup(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    owner = _person(step.more["owner"]) if "owner" in step.more else None
    lifecycle.add_followup(incident, text=step.words, owner=owner, by=by, at=at, source=source)


def _review(incident: Incident, step: SampleStep, *, by: Person, at: datetime, source: str) -> None:
    """Write in a section of the review; its text says that it is sample data."""
    editing.write(incident, section=step.more["section"], text=step.words, seen="", by=by, at=at, below=True)


def _worded(verb: Callable[..., object]) -> Callable[..., None]:
    def say(incident: Incident, step: SampleStep, **given: Any) -> None:
        verb(incident, text=step.words, **given)

    return say


TAKEN: Mapping[str, Callable[..., None]] = {
    "lead": _lead,
    "next": _next,
    "bring": _bring,
    "retype": _retype,
    "measure": _measure,
    "claim": _claim,
    "judge": _judge,
    "followup": _followup,
    "review": _review,
    "impact": _worded(lifecycle.state_impact),
    **{
        verb.__name__: _worded(verb)
        for verb in (lifecycle.update, lifecycle.note, lifecycle.mitigate, lifecycle.resolve, lifecycle.cancel)
    },
}
