"""Retype: the plan is shown before anyone confirms, and confirming sends its digest back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person, Source
from incidents.policies import current_types
from incidents.policies.policy import moves_room
from integrations.slack.interaction import carrying_out, incident_lookup, messages, plans
from integrations.slack.interaction.answers import Answer, Nothing, Open, Redraw, Replace
from integrations.slack.interaction.request import Form, SlackRequest, keep
from integrations.slack.listeners.incident import type_in_front
from integrations.slack.listeners.incident.declare import type_options
from integrations.slack.protocol import blocks, mrkdwn, setup
from workflows.planning.plan import Plan
from workflows.reconcile import retyping

CALLBACK: Final = "firekind:retype"
BECAUSE: Final = re.compile(r"(?P<type>.*?)\s*\bbecause\b\s*(?P<because>.*)", re.IGNORECASE | re.DOTALL)
REASON: Final = re.compile(r"because\b\s*", re.IGNORECASE)
BEFORE: Final = frozenset(("to", "into", "as"))
SUBMIT_CHARS: Final = 24  # Slack's limit for a modal's submit button
COME, STAY_OUT = "come", "stay-out"
TYPE, MEANT, MEANT_TYPE = "firekind:retype-type", "firekind:retype-meant", "firekind:retype-meant-type"
DOUBT: Final = "There is no type “{}”, so nothing has changed. {}"
ALONE_IN_USE: Final = "{} is the only type so far. Add another on {}/types/."
CHANGED: Final = "*The plan changed while you were reading.* This is what would happen now."


@dataclass(frozen=True, slots=True)
class Along:
    """Who comes along into a private type: the people picked, and whether the person who retypes does."""

    bring: tuple[Person, ...] = ()
    come: bool = True


ALONE: Final = Along()


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Open the modal: with the plan when a type was named, otherwise with the types to choose from.

    A misspelled type is offered but not chosen, because retyping may be irreversible. A reason that was typed is kept
    in either case.
    """
    must_be_active(incident)
    said = messages.typed(asked.words)
    if not said:
        return Open(modal(incident))
    (to, because), written = _named(said), said
    if to is None:
        match = BECAUSE.fullmatch(said)
        written, because = (match["type"], match["because"]) if match else said.partition(" ")[::2]
        to = incident_lookup.type_named(written)
    if to is not None and not lifecycle.may_retype(incident, to):
        raise lifecycle.Refused(f"{incident.codename} is already {incident.policy.name}.")
    if to is not None:
        plan = retyping.preview(incident, to=to, bring=(), by=asked.by)
        return Open(modal(incident, to=to, plan=plan, because=because.strip()))
    others = [one for one in current_types.usable() if lifecycle.may_retype(incident, one)]
    doubt = _doubt(written, incident_lookup.near_type(written, others))
    return Open(modal(incident, because=because.strip(), doubt=doubt))


def _named(said: str) -> tuple[IncidentType | None, str]:
    """Split a text into a leading type and the reason after it: *to time bomb certificates expire*."""
    to, rest = type_in_front.leading(said, current_types.usable(), after=BEFORE, apart=True)
    because = REASON.match(rest)
    return to, rest[because.end() :] if because else rest


def pressed(asked: SlackRequest) -> Answer:
    """Open the modal from a card or the Home tab."""
    incident = incident_lookup.named(asked.value, by=asked.by)
    must_be_active(incident)
    return Open(modal(incident))


def chosen(asked: SlackRequest) -> Answer:
    """Show the plan for the type and the companions chosen now."""
    return _planned(asked.filled, asked.filled.text("type"), by=asked.by)


def meant(asked: SlackRequest) -> Answer:
    """Choose the type that was offered for a misspelled one, and show its plan."""
    return _planned(asked.filled, asked.value, by=asked.by, field=MEANT_TYPE)


def _planned(form: Form, slug: str, *, by: Person, field: str = TYPE) -> Answer:
    if not slug:
        return Nothing()
    incident = incident_lookup.named(form.kept.text("i"), by=by)
    to, along, because = incident_lookup.usable_type(slug), _along(form), form.text("because")
    plan = retyping.preview(incident, to=to, bring=along.bring, come=along.come, by=by)
    view = modal(incident, to=to, plan=plan, along=along, because=because, since=form.kept.number("n"), field=field)
    return Redraw(view, form.id, form.hash)


def submitted(asked: SlackRequest) -> Answer:
    """Retype as shown; if the plan has changed, show the new one instead."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    to, along, because = incident_lookup.usable_type(form.text("type")), _along(form), form.text("because")
    unseen = form.kept.get("d") is None or form.kept.get("t") != to.slug
    if unseen:  # submitted before the plan was shown
        plan = retyping.preview(incident, to=to, bring=along.bring, come=along.come, by=asked.by)
        return Replace(modal(incident, to=to, plan=plan, along=along, because=because))
    try:
        retyping.confirm(
            incident,
            to=to,
            by=asked.by,
            at=asked.at,
            source=Source.SLACK,
            because=because,
            bring=along.bring,
            come=along.come,
            digest=form.kept.text("d"),
            since=form.kept.number("n"),
        )
    except lifecycle.Stale:
        if not lifecycle.may_retype(incident, to):
            raise
        plan = retyping.preview(incident, to=to, bring=along.bring, come=along.come, by=asked.by)
        return Replace(modal(incident, to=to, plan=plan, along=along, because=because, changed=True))
    except retyping.PlanChanged as changed:
        return Replace(modal(incident, to=to, plan=changed.plan, along=along, because=because, changed=True))
    return Nothing()


def modal(
    incident: Incident,
    *,
    to: IncidentType | None = None,
    plan: Plan | None = None,
    along: Along = ALONE,
    because: str = "",
    since: int | None = None,
    changed: bool = False,
    doubt: Sequence[blocks.Block] = (),
    field: str = TYPE,
) -> blocks.Block:
    """Build the modal, with the plan once a type is chosen; ``changed`` says that it differs from the one shown before.

    ``doubt`` is shown above everything else. ``field`` is the id of the type's field: Slack keeps the choice of a field
    with the same id, so a type that was chosen elsewhere needs a different id. Raises ``Refused`` when there is no
    other type, because Slack accepts no empty list.
    """
    is_now = f"{incident_lookup.linked(incident)} is *{mrkdwn.escape(incident.policy.name)}* now."
    types = [one for one in current_types.usable() if lifecycle.may_retype(incident, one)]
    if not types:
        raise lifecycle.Refused(ALONE_IN_USE.format(incident.policy.name, setup.base_url()))
    parts = [
        *carrying_out.warned(),
        *doubt,
        blocks.section(f"{CHANGED}\n{is_now}" if changed else is_now),
        blocks.field(
            "New type",
            blocks.select(type_options(types), action_id=field, chosen=to.slug if to else None),
            block_id="type",
            hint=to.policy.says if to else None,
            tells=True,
        ),
    ]
    if plan is not None:
        parts += plans.first(plan)
    if to is not None and moves_room(incident.private, to.policy):
        parts += _who(along)
    if plan is not None:
        parts += [blocks.divider(), *plans.rest(plan)]
    reason = blocks.text_input(action_id="because", initial=because, lines=True)
    parts.append(blocks.field("Why?", reason, block_id="because", optional=True))
    kept = keep(
        i=incident.codename,
        n=incident.last_n if since is None else since,
        t=to.slug if to else None,
        d=plan.digest if plan else None,
    )
    named = f"Retype to {to.policy.name}" if to else ""
    submit = named if 0 < len(named) <= SUBMIT_CHARS else "Retype"
    return blocks.modal("Retype", parts, callback_id=CALLBACK, submit=submit, close="Cancel", kept=kept)


def must_be_active(incident: Incident) -> None:
    """Raise ``Refused`` unless the incident is still being responded to."""
    if not incident.is_active:
        raise lifecycle.Refused(f"{incident.codename} is {incident.status}; reopen it before you retype it.")


def _doubt(written: str, near: IncidentType | None) -> list[blocks.Block]:
    asks = f"Did you mean {mrkdwn.bold(near.policy.name)}?" if near else "Choose one below."
    said = blocks.section(DOUBT.format(mrkdwn.escape(mrkdwn.cut(written, 40)), asks))
    if near is None:
        return [said]
    return [said, blocks.actions(blocks.button(near.policy.name, action_id=MEANT, value=near.slug))]


def _along(form: Form) -> Along:
    return Along(tuple(form.people("bring")), come=form.text("come") != STAY_OUT)


def _who(along: Along) -> list[blocks.Block]:
    ids = [person.chat_id for person in along.bring if person.chat_id]
    options = [blocks.option("I'm coming along", COME), blocks.option("I'm staying out", STAY_OUT)]
    chosen = COME if along.come else STAY_OUT
    return [
        blocks.field(
            "Who is coming along?",
            blocks.people_select(action_id="firekind:retype-bring", chosen=ids),
            block_id="bring",
            hint=(
                "Everyone else loses access. Only these people, the lead, the person who declared it and the people "
                "the new type brings in join the private channel. Apps are left out."
            ),
            optional=True,
            tells=True,
        ),
        blocks.field(
            "And you?",
            blocks.select(options, action_id="firekind:retype-come", chosen=chosen),
            block_id="come",
            tells=True,
        ),
    ]
