"""The progress of an incident's effects, in words for the page and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone
from django.utils.text import capfirst

from incidents import timeline
from incidents.lifecycle import rules
from incidents.models import Incident, Person, Source
from workflows.effects import lost_channels
from workflows.effects.failing import failures
from workflows.loading import incident_rows, load_facts
from workflows.loading.load_facts import IncidentState
from workflows.models import Effect, Limit, Resource
from workflows.planning import actions, participation
from workflows.planning.facts import Facts
from workflows.planning.observed import DELETED, ELSEWHERE, GONE, REFUSED, THERE, UNSEEN, Observed, ObservedThing
from workflows.planning.participation import Standing
from workflows.status import manual_steps, missing, residual_content
from workflows.status.manual_steps import ByHand
from workflows.status.residual_content import Left

State = Effect.State
WAITED_FOR = {"chat": "Slack", "pager": "PagerDuty", "tracker": "the issue tracker"}
ONE_OF = "gap/one-of/"
NO_CHANNEL = (f"gap/{DELETED}/", f"gap/{UNSEEN}/", f"gap/{ELSEWHERE}/")
PLANNED = "SELECT FROM workflows_planned WHERE incident_id = %s AND revision >= %s"
SHOWN = [State.WAITING, State.RUNNING, State.FAILED, State.DONE]


@dataclass(frozen=True, slots=True)
class EffectLine:
    """One effect in words; ``detail`` says why it is not done yet, ``ends_at`` when it will be.

    ``count`` is how many it concerns: one invitation goes to several people, and some may be refused. ``again_at`` is
    when it is tried again, if an error or a rate limit holds it up, and ``why`` says which.
    """

    id: int
    key: str
    kind: str
    sign: str
    state: str
    sentence: str
    detail: str
    can_retry: bool
    due_at: datetime
    done_at: datetime | None
    ends_at: datetime | None = None
    verb: str = ""
    revision: int = 0
    count: int = 1
    again_at: datetime | None = None
    why: str = ""
    external: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A participant, every reason that holds for it, and whether they are in the channel.

    ``why`` says the reasons in words, or how they came if none holds any more; such people are not ``needed``.
    """

    person_id: int
    name: str
    why: str
    state: str
    needed: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChannelLine:
    """The incident's channel."""

    id: str
    name: str
    url: str
    private: bool


@dataclass(frozen=True, slots=True)
class GapLine:
    """Something that the type asks for and that is unavailable; ``role`` is the role someone may be chosen for."""

    says: str
    key: str

    @property
    def role(self) -> str:
        """The role for which no one was found, empty for any other gap."""
        return self.key.removeprefix(ONE_OF) if self.key.startswith(ONE_OF) else ""

    @property
    def is_channel(self) -> bool:
        """Whether it is a channel that is gone: another can be created."""
        return self.key.startswith(NO_CHANNEL)

    @property
    def is_mendable(self) -> bool:
        """Whether someone can fix it outside, and we can check that."""
        return missing.is_mendable(self.key)

    def __str__(self) -> str:
        return self.says


@dataclass(slots=True)
class Progress:
    """Everything that exists or is owed outside for one incident."""

    effects: list[EffectLine] = field(default_factory=list)
    people: list[PersonLine] = field(default_factory=list)
    channel: ChannelLine | None = None
    gaps: list[GapLine] = field(default_factory=list)
    by_hand: list[ByHand] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)
    planned: bool = True

    @property
    def counts(self) -> Counter[str]:
        """How many effects are in each state."""
        return Counter(line.state for line in self.effects)

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen on its own."""
        return self.planned and not (self.counts[State.WAITING] or self.counts[State.RUNNING])


def of(incident: Incident, *, at: datetime | None = None) -> Progress:
    """Read an incident's progress."""
    at = at or timezone.now()
    # Read before the effects: a plan made in between then shows as not made yet, and never as empty.
    planned = _is_planned(incident)
    effects = incident_rows.effects_of(incident)
    resources = {row.key: row for row in incident_rows.resources_of(incident)}
    rows = [row for row in effects if row.state in SHOWN and not _is_said_by_gap(row, resources, room=incident.room)]
    waits = any(row.state == State.WAITING for row in rows)
    blocked = dict(Limit.objects.filter(blocked_until__gt=at).values_list("method", "blocked_until")) if waits else {}
    return Progress(
        effects=[_effect(row, rows, resources, blocked, at) for row in rows],
        people=_people(load_facts.of_people(incident, effects, resources.values())),
        channel=_channel(resources.get(f"channel/{incident.room}")),
        gaps=[GapLine(row.label, row.key) for row in resources.values() if row.kind == "gap"],
        by_hand=manual_steps.of(incident, rows, resources),
        left=residual_content.of(resources) if incident.private else [],
        stays=residual_content.elsewhere(incident, resources, rows) if incident.private else [],
        planned=planned,
    )


def _is_said_by_gap(row: Effect, resources: dict[str, Resource], *, room: int) -> bool:
    """Return whether it is in doubt because its channel was archived, and a gap already asks to unarchive that."""
    if row.state != State.FAILED or not row.unsure or row.error_code != lost_channels.IS_ARCHIVED:
        return False
    return f"gap/kept/{row.room}" in resources or (row.room == room and "gap/archived" in resources)


def _is_planned(incident: Incident) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(PLANNED, [incident.pk, incident.revision])
        return cursor.fetchone() is not None


def retry(effect_id: int, incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> bool:
    """Retry a failed effect of this incident; return False if there was none."""
    with rules.changing(incident, by=by):
        effect = Effect.objects.filter(pk=effect_id, incident=incident).first()
        if effect is None or not failures.retry(effect, at=at):
            return False
        text, data = f"retried: {effect.sentence}", {"effect": effect.key}
        timeline.append(incident, "did", at=at, by=by, source=source, text=text, data=data)
    return True


def _effect(
    row: Effect, rows: list[Effect], resources: dict[str, Resource], blocked: dict[str, datetime], at: datetime
) -> EffectLine:
    running = row.state == State.RUNNING
    made = resources.get(row.thing)
    again_at, why = _held_up(row, resources, blocked)
    return EffectLine(
        id=row.pk,
        key=row.key,
        kind=row.kind,
        sign=row.sign,
        state=row.state,
        sentence=actions.of(row.kind).under_way(row.sentence) if running else row.sentence,
        detail=_detail(row, rows, resources, blocked, at),
        can_retry=row.state == State.FAILED,
        due_at=row.due_at,
        done_at=row.ended_at if row.state == State.DONE else None,
        ends_at=_ends_at(row) if running else None,
        verb=row.verb,
        revision=row.revision,
        count=_count(row, resources),
        again_at=again_at,
        why=why,
        external=made.external if made else {},
    )


def _count(row: Effect, resources: dict[str, Resource]) -> int:
    """Return how many an effect concerns: for an invitation, those who were not refused."""
    if row.kind != "member":
        return 1
    asked = (resources.get(f"member/{row.room}/{one}") for one in row.spec.get("people", ()))
    return sum(one is None or one.state != REFUSED for one in asked)


def _ends_at(row: Effect) -> datetime | None:
    """Return when a try will have taken its usual time; None if that is unknown."""
    seconds = 0 if "until" in row.spec else row.spec.get("seconds", 0)
    return row.tried_at + timedelta(seconds=seconds) if row.tried_at and seconds else None


def _detail(
    row: Effect, rows: list[Effect], resources: dict[str, Resource], blocked: dict[str, datetime], at: datetime
) -> str:
    if row.state == State.WAITING:
        return _waiting(row, rows, resources, blocked, at)
    was_tried = row.unsure and row.tried_at is not None
    running = "checking whether the last attempt went through" if was_tried else actions.of(row.kind).detail
    return {State.FAILED: row.error, State.RUNNING: running}.get(State(row.state), "")


def _held_up(row: Effect, resources: dict[str, Resource], blocked: dict[str, datetime]) -> tuple[datetime | None, str]:
    """Return until when an effect waits because of an error or a rate limit, and which; None if it does not."""
    if row.state != State.WAITING or _missing(row, resources):
        return None, ""
    if row.method in blocked:
        return blocked[row.method], f"{capfirst(_whom(row))} is rate limiting Firekind."
    return (row.due_at, row.error) if row.error else (None, "")


def _missing(row: Effect, resources: dict[str, Resource]) -> list[str]:
    """Return what an effect needs and what does not exist yet."""
    return [need for need in row.needs if need not in resources or resources[need].state != THERE]


def _whom(row: Effect) -> str:
    return WAITED_FOR.get(actions.of(row.kind).port, "the source")


def _waiting(
    row: Effect, rows: list[Effect], resources: dict[str, Resource], blocked: dict[str, datetime], at: datetime
) -> str:
    if needed := _missing(row, resources):
        return f"waiting for: {_sentence_of(needed[0], rows)}"
    if row.method in blocked:
        return f"waiting for {_whom(row)} until {_clock(blocked[row.method])}"
    if row.unsure and row.tried_at and not row.error:
        return f"checking again at {_clock(row.due_at)} whether the last attempt went through"
    if row.error:
        return f"retrying at {_clock(row.due_at)}: {row.error}"
    return f"at {_clock(row.due_at)}" if row.due_at > at else "next"


def _clock(at: datetime) -> str:
    """Say a time of day in the reader's zone."""
    return f"{timezone.localtime(at):%H:%M:%S}"


def _sentence_of(thing: str, rows: list[Effect]) -> str:
    return next((row.sentence for row in reversed(rows) if row.thing == thing), thing.replace("/", " "))


def _people(known: IncidentState) -> list[PersonLine]:
    """Say why everyone is in, is coming, or left by hand; people who were shut out are not named."""
    facts, standings = known.facts, participation.of(known.facts).standings.values()
    return [_person(one, facts, known.observed) for one in standings if one.wanted or one.here or one.went]


def _person(one: Standing, facts: Facts, observed: Observed) -> PersonLine:
    member = observed.seen.get(f"member/{facts.room}/{one.who.chat_id}") if one.who.chat_id else None
    state = _member_state(one, member, is_active=facts.active)
    return PersonLine(one.who.person_id, one.who.name, one.why, state, one.is_needed, one.reasons)


def _member_state(one: Standing, member: ObservedThing | None, *, is_active: bool) -> str:
    if one.went or (member is not None and member.state == GONE):
        return "left"
    if member is None:
        outside = "not in the channel yet" if is_active else "not in the channel"
        return outside if one.who.chat_id else "on the web only"
    if member.state == REFUSED:
        return f"could not be invited: {member.why}".rstrip(": ")
    return "in the channel"


def _channel(resource: Resource | None) -> ChannelLine | None:
    if resource is None or resource.state != THERE:
        return None
    external = resource.external
    return ChannelLine(external["id"], external["name"], external.get("url", ""), bool(resource.spec.get("private")))
