"""Tasks and follow-ups: typed, made from a message, listed, finished, reassigned."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, Final

from incidents import event_kinds, lifecycle, numbered
from incidents.followups import followup_lists
from incidents.models import Followup, Incident, Source
from integrations.slack.interaction import due_days, incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Nothing, Open, Say, Wrong
from integrations.slack.interaction.request import SlackRequest, keep, short
from integrations.slack.listeners.timeline import stating
from integrations.slack.protocol import blocks, mrkdwn, setup

ADD: Final = "firekind:task-add"
CHANGE: Final = "firekind:task-change"
Phase = Followup.Phase
DOES: Final[dict[str, Callable[..., Followup]]] = {
    "done": lifecycle.finish_followup,
    "drop": lifecycle.drop_followup,
    "reopen": lifecycle.reopen_followup,
}
LISTED: Final = 30
LINK: Final = 500  # characters of a link that are kept


def command(phase: Phase) -> Callable[[SlackRequest, Incident], Answer]:
    """Make the command that adds a task or a follow-up; without words it opens a modal."""

    def run(asked: SlackRequest, incident: Incident) -> Answer:
        if not asked.words:
            return Open(_adding(phase, incident))
        owner, said = stating.whose(asked.words, by=asked.by)
        text, due_on = due_days.split(said, today=_today(asked, said))
        made = _add(asked, incident, phase, messages.typed(text), owner=owner, due_on=due_on)
        return Say(f"{_line(made)}\n`{setup.command()} tasks` lists them all.")

    return run


def listed(asked: SlackRequest, incident: Incident) -> Answer:
    """List the open ones, or mark one as done, drop or reopen it by its number."""
    first, _, rest = asked.words.lower().partition(" ")
    verb = first.rstrip(":,")
    if verb in DOES:
        number = rest.strip().lstrip("#").rstrip(".,!")
        if not (number.isascii() and number.isdecimal() and len(number) < 8):
            raise lifecycle.Refused(f"Say which one: `{setup.command()} tasks {verb} 2`.")
        one = DOES[verb](incident, n=int(number), by=asked.by, at=asked.at, source=Source.SLACK)
        return Say(_line(one))
    found = [one for one in followup_lists.of_incident(incident) if one.is_open]
    if not found:
        root = setup.command()
        return Say(f"No open tasks. `{root} task @someone roll back` adds one, `{root} followup` one for afterwards.")
    more = [f"and {len(found) - LISTED} more"] if len(found) > LISTED else []
    return Say("\n".join([*map(_line, found[:LISTED]), *more, f"`{setup.command()} tasks done 1` marks one as done."]))


def from_message(asked: SlackRequest) -> Answer:
    """Ask who takes on a message as a task, which keeps a link to the message."""
    message = messages.of(asked.message, channel_id=asked.channel_id)
    incident = incident_lookup.of_channel(asked.channel_id, by=asked.by)
    seen = [] if incident is not None else list(incident_lookup.seen(asked.by)[:100])
    if incident is None and not seen:
        return Say("There is no incident yet to add this to.")
    phase = Phase.DURING if incident is None or incident.is_active else Phase.AFTERWARDS
    return Open(_adding(phase, incident, text=short(message.text), link=message.link, among=seen))


def added(asked: SlackRequest) -> Answer:
    """Add the task from the modal."""
    form = asked.filled
    name = form.kept.text("i") or form.text("incident")
    if not name:
        return Wrong({"incident": "Choose an incident."})
    incident = incident_lookup.named(name, by=asked.by)
    phase = Phase(form.kept.word("p", Phase.values)) if incident.is_active else Phase.AFTERWARDS
    due_on = _day(asked, form.text("due"))
    text, owner = form.text("text"), form.person("owner")
    _add(asked, incident, phase, text, owner=owner, due_on=due_on, link=form.kept.text("l")[:LINK])
    return Nothing()


def done(asked: SlackRequest) -> Answer:
    """Mark a card's task as done; the card follows."""
    codename, _, borne = asked.value.partition("|")
    incident = incident_lookup.named(codename, by=asked.by)
    one = _meant(incident, borne)
    lifecycle.finish_followup(incident, n=one.n, by=asked.by, at=asked.at, source=Source.SLACK)
    return Nothing()


def change(asked: SlackRequest) -> Answer:
    """Ask for a card's new owner and due date."""
    codename, _, borne = asked.value.partition("|")
    incident = incident_lookup.named(codename, by=asked.by)
    one = _meant(incident, borne)
    owner = one.owner.chat_id if one.owner is not None and one.owner.can_join else None
    due = one.due_on.isoformat() if one.due_on else ""
    about = f"{incident_lookup.linked(incident)}  {mrkdwn.escape(mrkdwn.cut(one.says, 150))}"
    parts = [blocks.section(about), *_fields(owner=owner, due=due)]
    kept = keep(i=incident.codename, n=one.borne, o=owner or "", d=due)
    return Open(blocks.modal("Owner and due date", parts, callback_id=CHANGE, submit="Save", kept=kept))


def changed(asked: SlackRequest) -> Answer:
    """Save the modal's owner and due date; a field that was not changed keeps the task's current value."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    one = _meant(incident, form.kept["n"])
    about: dict[str, Any] = {"n": one.n, "by": asked.by, "at": asked.at, "source": Source.SLACK}
    changes: dict[str, Any] = {}
    if form.text("owner") != form.kept.get("o"):
        changes["owner"] = form.person("owner")
    if form.text("due").strip() != form.kept.get("d"):
        changes["due_on"] = _day(asked, form.text("due"), was=one)
    lifecycle.change_followup(incident, changes=changes, **about)
    return Nothing()


def _meant(incident: Incident, borne: object) -> Followup:
    """Return the task of a card or modal. Raises ``Refused`` when it is gone."""
    rows = Followup.objects.filter(incident=incident).select_related("incident", "owner").defer("incident__words")
    one = numbered.found(rows, borne, at="made_at")
    if one is None:
        raise lifecycle.Refused(f"That task no longer exists. {setup.command()} tasks lists those that are open.")
    return one


def _add(asked: SlackRequest, incident: Incident, phase: Phase, text: str, **what: Any) -> Followup:
    about: dict[str, Any] = {"by": asked.by, "at": asked.at, "source": Source.SLACK}
    return lifecycle.add_followup(incident, text=text, phase=phase, **about, **what)


def _day(asked: SlackRequest, said: str, *, was: Followup | None = None) -> date | None:
    """Parse a modal's due day; the task's previous one is accepted even if it is past."""
    word = said.strip().lower().removeprefix("by ").strip()
    if was is not None and was.due_on is not None and word == was.due_on.isoformat():
        return was.due_on
    return due_days.day(word, today=_today(asked, f"by {word}")) if word else None


def _today(asked: SlackRequest, said: str) -> date:
    """Return today's date for a person; Slack is asked for their time zone only if a day is named."""
    return due_days.today_of(asked.by, at=asked.at) if due_days.names_day(said) else asked.at.date()


def _adding(
    phase: Phase, incident: Incident | None, *, text: str = "", link: str = "", among: list[Incident] | None = None
) -> blocks.Block:
    word = "task" if phase == Phase.DURING else "follow-up"
    parts = []
    if incident is not None:
        parts.append(blocks.section(f"{incident_lookup.linked(incident)}  {mrkdwn.escape(incident.title)}"))
    else:
        options = incident_lookup.options(among or ())
        parts.append(blocks.field("Incident", blocks.select(options, action_id="incident"), block_id="incident"))
    parts.append(
        blocks.field("What?", blocks.text_input(action_id="text", lines=True, initial=text), block_id="text"),
    )
    kept = keep(i=incident.codename if incident is not None else "", p=phase, l=link)
    return blocks.modal(f"Add a {word}", [*parts, *_fields()], callback_id=ADD, submit="Add", kept=kept)


def _fields(*, owner: str | None = None, due: str = "") -> list[blocks.Block]:
    person = blocks.person_select(action_id="owner", chosen=owner)
    day = blocks.text_input(action_id="due", initial=due, longest=20)
    return [
        blocks.field("Who?", person, block_id="owner", optional=True),
        blocks.field("Due", day, block_id="due", hint="friday, tomorrow or 2026-12-01", optional=True),
    ]


def _line(one: Followup) -> str:
    """Describe a task in one line: number, words, owner and due day."""
    owner = one.owner
    whose = mrkdwn.mention(owner.chat_id, owner.name) if owner is not None else "no owner"
    due = f", due {one.due_on:%a} {event_kinds.said_day(one.due_on)}" if one.due_on else ""
    sign = {"open": "○", "done": "✓", "dropped": "✗"}[one.state]
    word = "" if one.is_task else " (follow-up)"
    return f"{sign}  {one.n}. {mrkdwn.escape(mrkdwn.cut(one.says, 200))}{word}: {whose}{due}"
