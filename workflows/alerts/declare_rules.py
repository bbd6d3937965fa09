"""Declare rules decide which of the pager's incidents declare one here. They can be tried on past alerts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from incidents import visibility
from incidents.audited import audit_notes
from incidents.claiming import turns
from incidents.lifecycle import Refused
from incidents.models import Person
from workflows.alerts import matching, storms
from workflows.models import Alert, DeclareRule

LOOKED_BACK = timedelta(days=30)
LOOKED_AT = 2_000
SHOWN = 12
SAID: Final = ("name", "service_id", "priority", "pattern", "type_id", "window_min")


class RuleOvertaken(Refused):
    """Someone else changed the rule while its form was open; ``now`` is the current rule."""

    def __init__(self, now: DeclareRule) -> None:
        super().__init__(f"The rule “{now.name}” changed while you were editing. Review it, then save again.")
        self.now = now


def said(rule: DeclareRule) -> str:
    """Return a rule as its form submits it, to detect whether the rule has changed since."""
    return json.dumps([getattr(rule, name) for name in SAID])


def add(asked: dict[str, Any], *, by: Person, at: datetime) -> DeclareRule:
    """Add a rule after all others; ``asked`` holds its fields."""
    with transaction.atomic():
        last = _held().aggregate(last=Max("position"))["last"]
        position = 0 if last is None else last + 1
        rule = DeclareRule.objects.create(**asked, position=position, created_at=at, created_by=by)
        _note(rule, by=by, did="added", becomes={name: str(value) for name, value in asked.items()})
        return rule


@transaction.atomic
def edit(rule: DeclareRule, asked: dict[str, Any], *, by: Person, seen: str = "") -> None:
    """Change a rule; storms that it has already started are unaffected.

    ``seen`` is what the rule said when the form was opened, if known. Raises ``RuleOvertaken`` if it says something
    else now, and ``Refused`` if it was deleted.
    """
    now = _held().select_related("type__current").filter(pk=rule.pk).first()
    if now is None:
        raise Refused(f"The rule “{rule.name}” was deleted while you were editing.")
    if seen and seen != said(now) and any(getattr(now, name) != value for name, value in asked.items()):
        raise RuleOvertaken(now)
    was = {name: str(getattr(now, name)) for name in asked}
    for name, value in asked.items():
        setattr(rule, name, value)
    rule.save(update_fields=list(asked))
    becomes = {name: str(value) for name, value in asked.items() if str(value) != was[name]}
    _note(rule, by=by, did="changed", was={name: was[name] for name in becomes}, becomes=becomes)


@transaction.atomic
def switch(rule: DeclareRule, *, on: bool, by: Person) -> None:
    """Switch a rule on or off."""
    DeclareRule.objects.filter(pk=rule.pk).update(active=on)
    _note(rule, by=by, did="switched on" if on else "switched off")


def move(rule: DeclareRule, *, step: int, by: Person) -> None:
    """Move a rule down by ``step`` places, or up when negative; it stops at either end of the list."""
    with transaction.atomic():
        order = list(_held())
        place = next((n for n, one in enumerate(order) if one.pk == rule.pk), None)
        if place is None:
            return
        order.insert(min(max(place + step, 0), len(order) - 1), order.pop(place))
        for position, one in enumerate(order):
            one.position = position
        DeclareRule.objects.bulk_update(order, ["position"])
        _note(rule, by=by, did="moved", step=step)


@transaction.atomic
def remove(rule: DeclareRule, *, by: Person) -> None:
    """Delete a rule. The incidents it declared and their alerts stay."""
    if _held().filter(pk=rule.pk).exists():
        _note(rule, by=by, did="deleted")
        rule.delete()


def _note(rule: DeclareRule, *, by: Person, did: str, **said: Any) -> None:
    audit_notes.note("rule", by=by, about=rule.name, rule=rule.pk, did=did, **said)


def _held() -> QuerySet[DeclareRule]:
    """Return every rule in order, locked until the caller's transaction ends; other writers wait.

    A row lock would not do: two writers could both add the first rule.
    """
    turns.take("workflows.alerts.declare_rules")
    return DeclareRule.objects.all()


@dataclass(frozen=True, slots=True)
class Taken:
    """A past alert that the rule fits; ``first`` is the earlier rule that takes it instead, if any."""

    alert: Alert
    first: DeclareRule | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """What a rule would have taken in the last 30 days: ``heard`` alerts in all, ``fit`` that the rule fits.

    ``shown`` holds the newest of those; ``others`` counts the ones that an earlier rule takes.
    """

    heard: int
    fit: int
    others: int
    shown: tuple[Taken, ...]


def tried(rule: DeclareRule, *, by: Person, at: datetime) -> Tried:
    """Try a rule, saved or not, on the alerts of the last 30 days that this person may see."""
    recent = _recent(by, at=at)
    before = _before(rule)
    fit = [Taken(one, matching.first(before, one)) for one in recent if matching.fits(rule, one)]
    others = sum(one.first is not None for one in fit)
    return Tried(len(recent), len(fit), others, tuple(fit[:SHOWN]))


def _before(rule: DeclareRule) -> Sequence[DeclareRule]:
    """Return the rules that are tried before this one; a new rule comes last."""
    rules = storms.rules()
    place = next((n for n, one in enumerate(rules) if one.pk == rule.pk), None)
    if place is not None or rule.pk is None:
        return rules[:place]
    return [one for one in rules if (one.position, one.pk) < (rule.position, rule.pk)]


def _recent(by: Person, *, at: datetime) -> list[Alert]:
    theirs = Q(incident=None) | Q(incident__in=visibility.visible_to(by))
    return list(Alert.objects.filter(theirs, at__gt=at - LOOKED_BACK).order_by("-at")[:LOOKED_AT])
