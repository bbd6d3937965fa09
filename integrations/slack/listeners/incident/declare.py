"""Declare: from a command, a modal, the Home tab, a shortcut or a message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from incidents import lifecycle
from incidents.lifecycle import rules
from incidents.models import Incident, IncidentType, Person, Source
from incidents.policies import current_types
from incidents.search import already_open
from integrations.slack.interaction import carrying_out, incident_lookup, messages, plans
from integrations.slack.interaction.answers import Answer, Nothing, Open, Redraw, Replace, Say, Wrong
from integrations.slack.interaction.request import Form, SlackRequest, keep, short
from integrations.slack.interaction.slack_event import moment
from integrations.slack.listeners.incident import room_words, type_in_front
from integrations.slack.protocol import blocks, mrkdwn
from workflows.reconcile import retyping

CALLBACK: Final = "firekind:declare"
TITLE_CHARS: Final = 200
PRIVATE: Final = "Only the people named here, and anyone they invite, will see it."
NO_TITLE: Final = re.compile(r"(?:an? )?(?:new )?incident", re.IGNORECASE)  # *new incident*, and nothing else


def command(asked: SlackRequest, *, drill: bool = False) -> Answer:
    """Declare immediately when there is a title; open the modal when there is none, or the type is in doubt."""
    if not asked.words or NO_TITLE.fullmatch(asked.words):
        return Open(_first(asked, drill=drill))
    type, title, near = parts = type_in_front.split(asked.words)
    if near is not None:
        return _form(asked, parts, drill=drill)
    title = messages.typed(title)
    incident = lifecycle.declare(title, by=asked.by, at=asked.at, source=Source.SLACK, type=type, is_drill=drill)
    already = _already(title, by=asked.by, beside=incident)
    return Say("\n".join(filter(None, (_declared(incident, title, by=asked.by), already))))


def drill(asked: SlackRequest) -> Answer:
    """Declare a drill: like an incident, and real in all but reach."""
    return command(asked, drill=True)


def form(asked: SlackRequest, *, drill: bool = False) -> Answer:
    """Open the modal with what was typed; text too long for a title goes whole into the summary."""
    return _form(asked, type_in_front.split(asked.words), drill=drill)


def _form(asked: SlackRequest, parts: type_in_front.Typed, *, drill: bool) -> Answer:
    type, said, near = parts
    said = messages.typed(said)
    summary = said if len(said) > TITLE_CHARS else ""
    doubt = _doubt(asked.words, near) if near else ""
    title = mrkdwn.cut(said, TITLE_CHARS)
    return Open(_first(asked, title=title, summary=summary, chosen=type or near, doubt=doubt, drill=drill))


def drill_form(asked: SlackRequest) -> Answer:
    """Open the modal for a drill with what was typed."""
    return form(asked, drill=True)


def pressed(asked: SlackRequest) -> Answer:
    """Open the modal from a button or a global shortcut."""
    return Open(_first(asked))


def from_message(asked: SlackRequest) -> Answer:
    """Open the modal with a message filled in, which also goes on the new timeline."""
    message = messages.of(asked.message, channel_id=asked.channel_id)
    first = message.text.strip().partition("\n")[0]
    kept = {"ref": message.ref, "author": message.author, "text": short(message.text)}
    return Open(_first(asked, title=mrkdwn.cut(first, TITLE_CHARS), summary=message.text, message=kept))


def chosen(asked: SlackRequest) -> Answer:
    """Show what the chosen type and lead bring, while the modal stays open."""
    form = asked.filled
    if not form.text("type"):
        return Nothing()
    view = _redrawn(form, incident_lookup.usable_type(form.text("type")), by=asked.by)
    return Redraw(view, form.id, form.hash)


def _redrawn(form: Form, type: IncidentType, *, by: Person, doubt: str = "") -> blocks.Block:
    """Rebuild the modal with its input and the plan of a type."""
    drill = bool(form.kept.get("d"))
    services = form.text("services").split(",")
    plan = retyping.preview_declare(type=type, by=by, lead=form.person("lead"), services=services, is_drill=drill)
    return modal(
        title=form.text("title"),
        summary=form.text("summary"),
        lead=form.text("lead") or None,
        services=form.text("services"),
        chosen=type,
        shown=plans.shown(plan),
        message=form.kept.part("m"),
        drill=drill,
        already=_already(form.text("title"), by=by),
        doubt=doubt,
    )


def _seen(form: Form) -> int | None:
    """Return the version of the chosen type whose plan the modal shows; None if it shows another type's."""
    slug, _, number = str(form.kept.get("t", "")).partition(":")
    return int(number) if number.isdecimal() and slug == form.text("type") else None


def submitted(asked: SlackRequest) -> Answer:
    """Declare from the modal, and confirm it there."""
    form = asked.filled
    lead = form.person("lead")
    if lead is not None and (lead.is_bot or lead.deactivated):
        return Wrong({"lead": f"{lead.name} cannot lead: {lead.kept_out.lower()} never do."})
    type = incident_lookup.usable_type(form.text("type")) if form.text("type") else None
    try:
        incident = lifecycle.declare(
            form.text("title"),
            by=asked.by,
            at=asked.at,
            source=Source.SLACK,
            type=type,
            summary=form.text("summary"),
            lead=lead,
            services=form.text("services").split(","),
            is_drill=bool(form.kept.get("d")),
            seen=_seen(form),
        )
    except lifecycle.TypeEdited as edited:
        assert type is not None, "what was shown is of a type"
        return Replace(_redrawn(form, type, by=asked.by, doubt=mrkdwn.escape(str(edited))))
    _capture(incident, form, asked)
    parts = [blocks.section(_declared(incident, form.text("title"), by=asked.by))]
    return Replace(blocks.modal("Declared", parts, callback_id="firekind:notice"))


def _first(
    asked: SlackRequest, *, chosen: IncidentType | None = None, drill: bool = False, **filled: Any
) -> blocks.Block:
    """Build the modal as it opens, with the plan of the chosen type or else of the default one."""
    type = chosen or IncidentType.objects.usable().filter(is_default=True).first()
    plan = retyping.preview_declare(type=type, by=asked.by, is_drill=drill) if type is not None else None
    shown = plans.shown(plan) if plan is not None else None
    already = _already(filled.get("title", ""), by=asked.by)
    return modal(chosen=type, shown=shown, drill=drill, already=already, **filled)


def _already(title: str, *, by: Person, beside: Incident | None = None) -> str:
    """Name open incidents that may be the same, among those the person may see; empty if none is similar."""
    found = [one for one in already_open.near(title, person=by) if one != beside]
    said = [f"{mrkdwn.escape(one.title)} ({incident_lookup.linked(one)})" for one in found]
    return f"Already open: {', '.join(said)}" if said else ""


def _doubt(said: str, near: IncidentType) -> str:
    """Say why the form was opened: the type's name is slightly wrong, or has no colon after it."""
    asks, said = "Nothing was declared. Check the type below, then declare.", type_in_front.undressed(said)
    if near.policy.private and type_in_front.leading(said, [near], after=type_in_front.BEFORE)[0] is not None:
        return f"{mrkdwn.bold(near.policy.name)} may be meant, which is private. {asks}"
    written = mrkdwn.cut(re.split("[:\uff1a]", said)[0].strip(), 40)
    return f"There is no type “{mrkdwn.escape(written)}”. {asks}"


def modal(
    *,
    title: str = "",
    summary: str = "",
    lead: str | None = None,
    services: str = "",
    chosen: IncidentType | None = None,
    shown: list[blocks.Block] | None = None,
    message: Mapping[str, Any] | None = None,
    doubt: str = "",
    drill: bool = False,
    already: str = "",
) -> blocks.Block:
    """Build the modal. A title is enough; for a type it shows the plan.

    ``doubt`` is shown above everything else, ``already`` (similar open incidents) below the title.
    """
    types = current_types.usable()
    default = chosen or next((one for one in types if one.is_default), None)
    parts = [
        *carrying_out.warned(),
        *([blocks.section(doubt)] if doubt else ()),
        blocks.field(
            "What is wrong?",
            blocks.text_input(action_id="title", initial=title, placeholder="Checkout is slow for everyone"),
            block_id="title",
            hint="A few words are enough. You can change everything later.",
        ),
        *([blocks.section(already)] if already else ()),
        blocks.field(
            "Type",
            blocks.select(
                type_options(types), action_id="firekind:declare-type", chosen=default.slug if default else None
            ),
            block_id="type",
            hint=default.policy.says if default else None,
            tells=True,
        ),
        *(shown or ()),
        *([blocks.section(PRIVATE)] if chosen is not None and chosen.policy.private else ()),
        blocks.field(
            "Summary",
            blocks.text_input(action_id="summary", initial=summary, lines=True),
            block_id="summary",
            optional=True,
        ),
        blocks.field(
            "Lead",
            blocks.person_select(action_id="firekind:declare-lead", chosen=lead),
            block_id="lead",
            optional=True,
            tells=True,
        ),
        blocks.field(
            "Affected services",
            blocks.text_input(action_id="services", initial=services, placeholder="checkout, payments"),
            block_id="services",
            optional=True,
        ),
    ]
    kept: dict[str, Any] = ({"m": message} if message else {}) | ({"d": 1} if drill else {})
    if shown and default and default.current:
        kept["t"] = f"{default.slug}:{default.current.number}"
    heading, submit = ("Open a drill", "Open the drill") if drill else ("Declare an incident", "Declare")
    said = keep(**kept) if kept else ""
    return blocks.modal(heading, parts, callback_id=CALLBACK, submit=submit, close="Cancel", kept=said)


def type_options(types: Sequence[IncidentType]) -> list[blocks.Option]:
    """Return types as options, each with its description."""
    return [blocks.option(one.policy.name, one.slug, says=one.policy.says) for one in types]


def _declared(incident: Incident, title: str, *, by: Person) -> str:
    type = mrkdwn.escape(incident.policy.name)
    did, as_what = ("Opened", f"a drill ({type})") if incident.is_drill else ("Declared", type)
    return (
        f"{did} {mrkdwn.bold(incident.title)} as {as_what}: {incident_lookup.linked(incident)}.\n"
        f"{room_words.opens(incident, by=by)}"
        f"{f' {rules.TITLE_CUT}' if rules.is_long(title) else ''}"
    )


def _capture(incident: Incident, form: Form, asked: SlackRequest) -> None:
    message = form.kept.part("m")
    if not message:
        return
    channel_id, _, ts = message.ref("ref").partition(":")
    lifecycle.capture(
        incident,
        text=message.text("text"),
        author=message.text("author"),
        ref=message.ref("ref"),
        by=asked.by,
        at=moment(ts),
        recorded_at=asked.at,
        link=messages.link(channel_id, ts),
    )
