"""The words that can follow the slash command: one table, also used for help and suggestions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from incidents.models import Followup, Incident
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.listeners import evidence, findings, profiles, read
from integrations.slack.listeners.incident import access, declare, details, lead, opening_up, replay, retype
from integrations.slack.listeners.pager import oncall, paging
from integrations.slack.listeners.timeline import catching_up, redact, say, stating, to_do
from integrations.slack.protocol import setup

OPEN, ENDED, ALL = (True,), (False,), (True, False)
# Shown by help without *all*.
MOST: Final = frozenset(("declare", "retype", "update", "catchup", "lead", "page", "mitigated", "resolved", "list"))


@dataclass(frozen=True, slots=True)
class Command:
    """One word after the slash command.

    ``about`` takes an incident; ``of`` says whether open ones, ended ones or both. ``asks`` describes what the command
    does to an incident immediately, with words after it or, if ``bare``, without. When it is typed outside the
    incident's channel, someone confirms that first. Commands that only show something or open a form have no ``asks``.

    A misspelled command is offered as a button, or as the form that it ``opens`` with its words. A ``weighty`` command
    cannot be undone or lets someone in, so it has to be typed out. With words, one that ``declares``
    opens an incident.
    """

    name: str
    usage: str
    says: str
    run: Callable[[SlackRequest], Answer] | None = None
    about: Callable[[SlackRequest, Incident], Answer] | None = None
    of: tuple[bool, ...] = OPEN
    aliases: tuple[str, ...] = ()
    asks: str = ""
    bare: bool = False
    weighty: bool = False
    opens: Callable[..., Answer] | None = None
    declares: bool = False


def help_(asked: SlackRequest) -> Answer:
    """List the most used commands, or with *all* every command."""
    root = setup.command()
    shown = COMMANDS if asked.words.strip().lower() == "all" else [one for one in COMMANDS if one.name in MOST]
    lines = [f"`{root} {one.usage}`  {one.says}" for one in shown]
    if len(shown) < len(COMMANDS):
        lines.append(f"`{root} help all`  {len(COMMANDS) - len(shown)} more: roles, tasks, evidence, drills, access …")
    return Say("\n".join(lines))


COMMANDS: Final = (
    Command(
        "declare",
        "declare [type:] title",
        "declares an incident, and names open ones that may be the same; without a title, opens a form",
        run=declare.command,
        declares=True,
        aliases=("new", "open", "create"),
        opens=declare.form,
    ),
    Command(
        "drill",
        "drill [type:] title",
        "opens a drill: no one is paged, nothing is announced; without a title, opens a form",
        run=declare.drill,
        declares=True,
        opens=declare.drill_form,
    ),
    Command(
        "replay",
        "replay codename [speed]",
        "plays an ended incident again in a drill, 10 times as fast unless you say otherwise",
        run=replay.command,
        declares=True,
        weighty=True,
    ),
    Command(
        "answer",
        "answer [text]",
        "says what you would do next in a replay",
        about=say.command(say.VERBS["answer"]),
        asks="Give the answer in {}",
    ),
    Command(
        "retype",
        "retype [type] [because …]",
        "retypes the incident, after showing what will happen",
        about=retype.command,
        aliases=("type",),
    ),
    Command(
        "update",
        "update [text; impact: …; next: @person …]",
        "posts a status update, with impact and next step if you like",
        about=say.command(say.VERBS["update"]),
        asks="Post the update to {}",
    ),
    Command(
        "catchup",
        "catchup",
        "catches you up in twenty seconds",
        about=catching_up.command,
        of=ALL,
        aliases=("catch-up", "catch"),
    ),
    Command(
        "impact",
        "impact [text]",
        "sets the impact: who is affected, and how badly",
        about=say.command(say.VERBS["impact"]),
        of=ALL,
        asks="Set the impact of {}",
    ),
    Command(
        "next",
        "next [@person] text",
        "sets the next step and who owns it; `none` clears it",
        about=stating.next_step,
        aliases=("next-step", "step"),
        asks="Set the next step of {}",
    ),
    Command(
        "lead",
        "lead [@person]",
        "makes you, or someone else, the lead",
        about=lead.command,
        asks="Set the lead of {}",
        bare=True,
    ),
    Command(
        "role",
        "role name @person",
        "gives someone a role; `nobody` instead of a person leaves it open",
        about=details.role,
        of=ALL,
        asks="Set a role of {}",
    ),
    Command(
        "bring",
        "bring @person [@person …]",
        "brings people in by name",
        about=details.bring,
        of=ALL,
        aliases=("invite",),
        asks="Bring people into {}",
    ),
    Command(
        "page",
        "page [policy, service or @person] [because …]",
        "pages someone, after showing who that is now",
        about=paging.command,
        aliases=("ring", "call"),
    ),
    Command(
        "oncall",
        "oncall [service, schedule or policy]",
        "shows who is on call now, and until when",
        run=oncall.command,
        aliases=("on-call",),
    ),
    Command(
        "note",
        "note [text]",
        "adds a note to the timeline; no one is notified",
        about=say.command(say.VERBS["note"]),
        of=ALL,
        asks="Add the note to {}",
    ),
    Command(
        "evidence",
        "evidence [link]",
        "adds files or a link, and shows the evidence",
        about=evidence.command,
        of=ALL,
        aliases=("profile", "flame"),
        asks="Add the evidence to {}",
    ),
    Command(
        "finding",
        "finding [hypothesis, or refuted: hypothesis because …]",
        "adds a hypothesis or a verdict; alone, opens a form",
        about=findings.command,
        of=ALL,
        aliases=("claim",),
        asks="Add the finding to {}",
    ),
    Command(
        "capture",
        "capture source [kind] [seconds]",
        "captures a profile; alone, lists the sources",
        about=profiles.command,
        of=ALL,
        asks="Capture a profile for {}",
    ),
    Command(
        "rename",
        "rename title",
        "changes its title",
        about=details.rename,
        of=ALL,
        aliases=("title",),
        asks="Rename {}",
    ),
    Command(
        "summary",
        "summary text",
        "writes the summary that latecomers read first",
        about=details.summary,
        of=ALL,
        aliases=("describe",),
        asks="Write the summary of {}",
    ),
    Command(
        "task",
        "task [@person] text [by friday]",
        "adds a task, to be done while people respond; alone, opens a form",
        about=to_do.command(Followup.Phase.DURING),
        asks="Add the task to {}",
    ),
    Command(
        "followup",
        "followup [@person] text [by friday]",
        "adds a follow-up, to be done afterwards; alone, opens a form",
        about=to_do.command(Followup.Phase.AFTERWARDS),
        of=ALL,
        aliases=("follow-up",),
        asks="Add the follow-up to {}",
    ),
    Command(
        "tasks",
        "tasks [done, drop or reopen number]",
        "lists open tasks and follow-ups; with a number, updates one",
        about=to_do.listed,
        of=ALL,
        aliases=("todo", "followups", "follow-ups"),
        asks="Update the tasks of {}",
    ),
    Command(
        "checklist",
        "checklist [number]",
        "shows the checklist; with a number, checks that item off or puts it back",
        about=details.checklist,
        of=ALL,
        asks="Check off an item of {}",
    ),
    Command(
        "services",
        "services name[, name …]",
        "names the services affected; alone, shows them",
        about=details.services,
        aliases=("service",),
        asks="Name the services of {}",
    ),
    Command(
        "status",
        "status",
        "shows the current status, and what is missing, failed or being retried",
        about=read.status,
        of=ALL,
    ),
    Command("timeline", "timeline", "shows recent events", about=read.recent, of=ALL),
    Command(
        "edit",
        "edit number text",
        "changes what an entry says; for its author and the lead",
        about=redact.edit,
        of=ALL,
        asks="Edit an entry of {}",
    ),
    Command(
        "redact",
        "redact number",
        "deletes what an entry says for good; for the lead",
        about=redact.command,
        weighty=True,
        of=ALL,
        asks="Redact an entry of {}",
    ),
    Command(
        "mitigated",
        "mitigated [text]",
        "marks it as mitigated",
        about=say.command(say.VERBS["mitigate"]),
        opens=say.form(say.VERBS["mitigate"]),
        aliases=("mit", "mitigate"),
        asks="Mark {} as mitigated",
        bare=True,
    ),
    Command(
        "resolved",
        "resolved [text]",
        "resolves it",
        about=say.command(say.VERBS["resolve"]),
        opens=say.form(say.VERBS["resolve"]),
        aliases=("fixed", "resolve"),
        asks="Resolve {}",
        bare=True,
    ),
    Command(
        "reopen",
        "reopen [text]",
        "reopens it",
        about=say.command(say.VERBS["reopen"]),
        opens=say.form(say.VERBS["reopen"]),
        of=ENDED,
        asks="Reopen {}",
        bare=True,
    ),
    Command(
        "cancel",
        "cancel [text]",
        "cancels it: it wasn't an incident",
        about=say.command(say.VERBS["cancel"]),
        opens=say.form(say.VERBS["cancel"]),
        asks="Cancel {}",
        bare=True,
    ),
    Command(
        "duplicate",
        "duplicate codename",
        "ends it as a duplicate of another incident",
        about=details.duplicate,
        weighty=True,
        asks="End {} as a duplicate",
    ),
    Command(
        "access",
        "access codename because …",
        "requests access to a private incident",
        run=access.command,
        weighty=True,
    ),
    Command(
        "break-glass",
        "break-glass codename because …",
        "lets you into a private incident immediately; its people are told why",
        run=access.glass,
        weighty=True,
    ),
    Command(
        "open-up",
        "open-up",
        "writes a public summary of a private incident, for someone else to confirm",
        about=opening_up.command,
        of=ALL,
    ),
    Command(
        "archive",
        "archive",
        "archives the channel once it has ended",
        about=details.archive,
        weighty=True,
        of=ENDED,
        asks="Archive the channel of {}",
        bare=True,
    ),
    Command("list", "list", "shows the open incidents", run=read.listed, aliases=("ls",)),
    Command("help", "help [all]", "shows the most common commands, or all of them", run=help_),
)
NAMED: Final = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}
