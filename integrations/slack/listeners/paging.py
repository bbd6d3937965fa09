"""Page someone: who would be paged is shown before anyone is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from incidents import lifecycle, people
from incidents.models import Incident, Source
from integrations.slack import blocks, messages, places, setup, words
from integrations.slack.answers import Answer, Nothing, Open, Redraw, Replace, Say, Wrong
from integrations.slack.asked import Asked, Form, keep
from workflows import paged, paging, ports
from workflows.paging import Choice

CALLBACK: Final = "firekind:page"
TARGET: Final = "firekind:page-target"
BECAUSE: Final = re.compile(r"(?P<whom>.*?)\s*\bbecause\b:?\s*(?P<because>.*)", re.IGNORECASE | re.DOTALL)
NOT_CONNECTED: Final = (
    "PagerDuty is not connected, so no one can be paged. Your operator can connect it: PAGERDUTY_API_KEY."
)
NOT_READ: Final = "PagerDuty has not been read yet, so there is no one to page. Try again in a minute."
HAPPENS: Final = "They are paged immediately and brought in here. The timeline shows what happens."
CHANGED: Final = "*Who would be paged changed while you were reading.* This is the current list."
LISTED: Final = 100


def command(asked: Asked, incident: Incident) -> Answer:
    """Open the modal: with who would be paged when someone was named, else with a list to choose from."""
    among = _choices(incident)
    whom, because = _read(asked.words)
    choice = _meant(whom, among) if whom else None
    if choice is not None and choice.state:
        return Say(_open_already(choice, incident))
    return Open(modal(incident, among, choice=choice, because=because))


def pressed(asked: Asked) -> Answer:
    """Open the modal from a button."""
    incident = places.named(asked.value, by=asked.by)
    return Open(modal(incident, _choices(incident)))


def chosen(asked: Asked) -> Answer:
    """Show who would be paged for what is chosen now."""
    form = asked.filled
    incident = places.named(str(form.kept["i"]), by=asked.by)
    among = _choices(incident)
    choice = _chosen(form, among)
    return Redraw(modal(incident, among, choice=choice, because=form.text("because")), form.id, form.hash)


def submitted(asked: Asked) -> Answer:
    """Page the people shown; show anyone who was not shown, or whose shift has ended, first."""
    form = asked.filled
    incident = places.named(str(form.kept["i"]), by=asked.by)
    among = _choices(incident)
    choice = _chosen(form, among)
    if choice is None:
        return Wrong({"target": "Choose who to page."})
    because = form.text("because")
    if form.kept.get("d") != paged.digest(choice):
        changed = form.kept.get("t") == choice.target
        return Replace(modal(incident, among, choice=choice, because=because, changed=changed))
    paging.ask(incident, target=choice.target, by=asked.by, at=asked.at, because=because, via=Source.SLACK)
    return Nothing()


def modal(
    incident: Incident,
    among: Sequence[Choice],
    *,
    choice: Choice | None = None,
    because: str = "",
    changed: bool = False,
) -> blocks.Block:
    """Build the modal, with who would be paged once someone is chosen."""
    parts = [blocks.context(f"{places.linked(incident)}  {words.escape(words.cut(incident.title, 150))}")]
    parts += [blocks.section(CHANGED)] if changed else []
    parts.append(_whom(among, choice))
    if choice is not None:
        parts += [blocks.section(_shown(choice)), blocks.context(HAPPENS)]
    hint = "Shown here and in the channel, but not sent to PagerDuty."
    reason = blocks.text_input(action_id="because", initial=because, lines=True)
    parts.append(blocks.field("Why?", reason, block_id="because", optional=True, hint=hint))
    kept = keep(i=incident.codename, t=choice.target if choice else None, d=paged.digest(choice) if choice else None)
    submit = "Page" if choice else "Show who is paged"
    return blocks.modal("Page someone", parts, callback_id=CALLBACK, submit=submit, close="Cancel", kept=kept)


def _whom(among: Sequence[Choice], choice: Choice | None) -> blocks.Block:
    """The field that chooses, with who would be paged now under each name; what does not fit is left to the command."""
    groups = {label: list(map(_option, _some(found, choice))) for label, found in paged.grouped(among).items()}
    picked = choice.target if choice else None
    select = blocks.grouped_select(groups, action_id=TARGET, chosen=picked, placeholder="Choose who to page")
    shown = sum(map(len, groups.values()))
    more = f"Not everyone fits here: use {setup.command()} page name, or @person." if shown < len(among) else None
    return blocks.field("Whom?", select, block_id="target", hint=more, tells=True)


def _some(found: Sequence[Choice], choice: Choice | None) -> Sequence[Choice]:
    """Return as many of a kind as Slack lists, the chosen one among them."""
    return sorted(found, key=lambda one: one != choice)[:LISTED] if len(found) > LISTED else found


def _option(choice: Choice) -> blocks.Option:
    says = f"already paged: {choice.state}" if choice.state else choice.rings
    return blocks.option(choice.name, choice.target, says=says)


def _shown(choice: Choice) -> str:
    name = words.escape(choice.name)
    if choice.state:
        return f"*{name}* was already paged: {words.escape(choice.state)}."
    says = f"*{name}*: {words.escape(choice.rings)} now." if choice.rings else f"*{name}* is being paged."
    unmatched = words.escape(", ".join(choice.strangers))
    return f"{says} Not brought in, because they are not matched to anyone here: {unmatched}." if unmatched else says


def _open_already(choice: Choice, incident: Incident) -> str:
    page = words.link(f"{places.page(incident)}pages", "All pages of this incident")
    return f"{_shown(choice)} {page}."


def _choices(incident: Incident) -> list[Choice]:
    """Return who can be paged for an incident; raise ``Refused`` with the reason when that is no one."""
    if not incident.is_active:
        raise lifecycle.Refused(f"{incident.codename} is {incident.status}; reopen it before you page someone for it.")
    if ports.pager() is None:
        raise lifecycle.Refused(NOT_CONNECTED)
    among = paging.choices(incident)
    if not among:
        raise lifecycle.Refused(NOT_READ)
    return among


def _read(said: str) -> tuple[str, str]:
    """Split who from why: *Major incidents because the database is down*."""
    found = BECAUSE.fullmatch(said)
    return (found["whom"].strip(), messages.typed(found["because"])) if found else (said.strip(), "")


def _meant(whom: str, among: Sequence[Choice]) -> Choice:
    """Return who is meant by a mention, a name or an id; raise ``Refused`` with the closest matches."""
    mentioned = words.people(whom)
    if mentioned:
        return _mentioned(mentioned, among)
    try:
        return paged.meant(messages.typed(whom), among)
    except lifecycle.BadInput as unknown:
        raise lifecycle.Refused(f"{unknown} {setup.command()} page alone lists everyone.") from unknown


def _mentioned(chat_ids: Sequence[str], among: Sequence[Choice]) -> Choice:
    if len(chat_ids) > 1:
        raise lifecycle.Refused("Name one person: page each with a separate command.")
    person = people.by_chat_id(chat_ids[0])
    choice = paging.of_person(person, among)
    if choice is None:
        says = (
            f"PagerDuty has no user matched to {person.name}, so they cannot be paged. Page who is on call, or match "
            "them"
        )
        raise lifecycle.Refused(f"{says} on {setup.base_url()}/oncall/people/.")
    return choice


def _chosen(form: Form, among: Sequence[Choice]) -> Choice | None:
    target = form.text("target")
    return next((one for one in among if one.target == target), None)
