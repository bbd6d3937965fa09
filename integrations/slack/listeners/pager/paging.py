"""Page someone, after showing who would be paged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from incidents import lifecycle
from incidents.models import Incident, Person, Source
from incidents.people import person_matching
from integrations.slack.interaction import carrying_out, incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Nothing, Open, Redraw, Replace, Say, Wrong
from integrations.slack.interaction.request import Form, SlackRequest, keep
from integrations.slack.protocol import blocks, mrkdwn, setup
from workflows import ports
from workflows.paging import paging
from workflows.paging.paging import PageChoice
from workflows.status import page_status

CALLBACK: Final = "firekind:page"
TARGET: Final = "firekind:page-target"
BECAUSE: Final = re.compile(r"(?P<whom>.*?)\s*\bbecause\b:?\s*(?P<because>.*)", re.IGNORECASE | re.DOTALL)
NOT_CONNECTED: Final = (
    "PagerDuty is not connected, so no one can be paged. Your operator can connect it: PAGERDUTY_API_KEY."
)
NOT_READ: Final = "PagerDuty has not been read yet, so there is no one to page. Try again in a minute."
HAPPENS: Final = "No one is paged until you press Page. Then they are brought in here, too."
CHANGED: Final = "*Who would be paged changed while you were reading.* This is the current list."
LISTED: Final = 100


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Open the modal: with who would be paged if someone was named, otherwise with a list to choose from."""
    among = _choices(incident, by=asked.by)
    whom, because = _read(asked.words)
    choice = _meant(whom, among) if whom else None
    if choice is not None and choice.state:
        return Say(_open_already(choice, incident))
    return Open(modal(incident, among, choice=choice, because=because))


def pressed(asked: SlackRequest) -> Answer:
    """Open the modal from a button."""
    incident = incident_lookup.named(asked.value, by=asked.by)
    return Open(modal(incident, _choices(incident, by=asked.by)))


def chosen(asked: SlackRequest) -> Answer:
    """Show who would be paged for the current choice."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    among = _choices(incident, by=asked.by)
    choice = _chosen(form, among)
    return Redraw(modal(incident, among, choice=choice, because=form.text("because")), form.id, form.hash)


def submitted(asked: SlackRequest) -> Answer:
    """Page the people shown. If someone was not shown, or their shift has ended, show the new people first."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    among = _choices(incident, by=asked.by)
    choice = _chosen(form, among)
    if choice is None:
        return Wrong({"target": "Choose who to page."})
    because = form.text("because")
    if form.kept.get("d") != page_status.digest(choice):
        changed = form.kept.get("t") == choice.target
        return Replace(modal(incident, among, choice=choice, because=because, changed=changed))
    paging.ask(incident, target=choice.target, by=asked.by, at=asked.at, because=because, via=Source.SLACK)
    return Nothing()


def modal(
    incident: Incident,
    among: Sequence[PageChoice],
    *,
    choice: PageChoice | None = None,
    because: str = "",
    changed: bool = False,
) -> blocks.Block:
    """Build the modal, with who would be paged once someone is chosen."""
    parts = [blocks.section(incident_lookup.titled(incident)), *carrying_out.warned()]
    parts += [blocks.section(CHANGED)] if changed else []
    parts.append(_recipients(among, choice))
    if choice is not None:
        parts.append(blocks.section(_shown(choice) if choice.state else f"{_shown(choice)}\n{HAPPENS}"))
    hint = "Shown here and in the channel, but not sent to PagerDuty."
    reason = blocks.text_input(action_id="because", initial=because, lines=True)
    parts.append(blocks.field("Why?", reason, block_id="because", optional=True, hint=hint))
    kept = keep(
        i=incident.codename, t=choice.target if choice else None, d=page_status.digest(choice) if choice else None
    )
    submit = "Page" if choice else "Show who is paged"
    return blocks.modal("Page someone", parts, callback_id=CALLBACK, submit=submit, close="Cancel", kept=kept)


def _recipients(among: Sequence[PageChoice], choice: PageChoice | None) -> blocks.Block:
    """Build the drop-down, with who would be paged under each name. A typed command can also name what does not fit."""
    groups = {label: list(map(_option, _some(found, choice))) for label, found in page_status.grouped(among).items()}
    picked = choice.target if choice else None
    select = blocks.grouped_select(groups, action_id=TARGET, chosen=picked, placeholder="Choose who to page")
    shown = sum(map(len, groups.values()))
    more = f"Not everyone fits here: use {setup.command()} page name, or @person." if shown < len(among) else None
    return blocks.field("Who?", select, block_id="target", hint=more, tells=True)


def _some(found: Sequence[PageChoice], choice: PageChoice | None) -> Sequence[PageChoice]:
    """Return as many of a kind as Slack can list, including the chosen one."""
    return sorted(found, key=lambda one: one != choice)[:LISTED] if len(found) > LISTED else found


def _option(choice: PageChoice) -> blocks.Option:
    says = f"already paged: {choice.state}" if choice.state else choice.rings
    return blocks.option(choice.name, choice.target, says=says)


def _shown(choice: PageChoice) -> str:
    name = mrkdwn.bold(choice.name)
    if choice.state:
        return f"{name} was already paged: {mrkdwn.escape(choice.state)}."
    says = f"{name}: {mrkdwn.escape(choice.rings)} now." if choice.rings else f"This pages {name}."
    unmatched = mrkdwn.escape(", ".join(choice.strangers))
    return f"{says} Not brought in, because they are not matched to anyone here: {unmatched}." if unmatched else says


def _open_already(choice: PageChoice, incident: Incident) -> str:
    page = mrkdwn.link(f"{incident_lookup.page(incident)}pages", "All pages of this incident")
    return f"{_shown(choice)} {page}."


def _choices(incident: Incident, *, by: Person) -> list[PageChoice]:
    """Return everyone an incident can page. Raises ``Refused`` with the reason when that is no one."""
    if not incident.is_active:
        raise lifecycle.Refused(f"{incident.codename} is {incident.status}; reopen it before you page someone for it.")
    if ports.pager() is None:
        raise lifecycle.Refused(NOT_CONNECTED)
    paging.must_page(by)
    among = paging.choices(incident)
    if not among:
        raise lifecycle.Refused(NOT_READ)
    return among


def _read(said: str) -> tuple[str, str]:
    """Split the target from the reason: *Major incidents because the database is down*."""
    found = BECAUSE.fullmatch(said)
    return (found["whom"].strip(), messages.typed(found["because"])) if found else (said.strip(), "")


def _meant(whom: str, among: Sequence[PageChoice]) -> PageChoice:
    """Return the choice meant by a mention, a name or an id. Raises ``Refused`` with the closest matches."""
    mentioned = mrkdwn.people(whom)
    if mentioned:
        return _mentioned(mentioned, among)
    try:
        return page_status.meant(messages.typed(whom), among)
    except lifecycle.BadInput as unknown:
        raise lifecycle.Refused(f"{unknown} Type {setup.command()} page on its own to see everyone.") from unknown


def _mentioned(chat_ids: Sequence[str], among: Sequence[PageChoice]) -> PageChoice:
    if len(chat_ids) > 1:
        raise lifecycle.Refused("Name one person: page each with a separate command.")
    person = person_matching.by_chat_id(chat_ids[0])
    choice = paging.of_person(person, among)
    if choice is None:
        says = (
            f"PagerDuty has no user matched to {person.name}, so they cannot be paged. Page who is on call, or match "
            "them"
        )
        raise lifecycle.Refused(f"{says} on {setup.base_url()}/oncall/people/.")
    return choice


def _chosen(form: Form, among: Sequence[PageChoice]) -> PageChoice | None:
    target = form.text("target")
    return next((one for one in among if one.target == target), None)
