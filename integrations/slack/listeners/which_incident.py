"""Answers to a command typed outside its incident's channel: which incident is meant, and what would be done."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from incidents.models import Incident
from integrations.slack.interaction import incident_lookup, messages
from integrations.slack.interaction.answers import Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.listeners.command_table import ENDED, Command
from integrations.slack.protocol import blocks, mrkdwn, setup

PICK: Final = "firekind:pick"
PICKED: Final = "firekind:picked"
AGAIN: Final = "firekind:pick-again"
MEANT: Final = "firekind:meant"
PRIVATE_CHANNEL: Final = "privategroup"  # the name that Slack's commands give for any private channel
PLACE: Final = re.compile(r" (?:(?:to|of|for|in|into) )?\{\}")
QUOTED, QUOTED_LINE, TITLE = 1_500, 300, 150


def acts(command: Command, words: str) -> bool:
    """Return whether a command does something immediately, instead of showing something or opening a form."""
    return bool(command.asks and (words or command.bare))


def offers(asked: SlackRequest) -> bool:
    """Return whether to offer a choice of incidents in a channel that belongs to none the author may see.

    Not in a channel that has or had an incident, or may have: a command there is meant for that one. The decision uses
    only what the author can see, the channel's name and that it is private, so it reveals nothing about hidden
    incidents.
    """
    given, name = setup.current(), asked.channel_name
    return name != PRIVATE_CHANNEL and not (given and name.startswith(f"{given.channel_prefix}-"))


def none_here(command: Command, asked: SlackRequest) -> Say:
    """Say how to name the incident."""
    root = setup.command()
    typed = f"{root} {command.name} {messages.one_line(f'codename {asked.words}', QUOTED_LINE)}"
    return Say(
        f"No incident that you can see belongs to this channel, so nothing was done. Name one: `{typed}`. "
        f"`{root} list` shows those that are open."
    )


def question(command: Command, words: str, incidents: Iterable[Incident], *, number: int) -> Say:
    """Ask which incident a command is for, showing what was typed."""
    options = incident_lookup.options(incidents)
    if not options:
        return Say(f"There is no {'ended' if command.of == ENDED else 'open'} incident to use this on.")
    said = _asks(command, words, "which incident")
    if not acts(command, words):
        said = f"Which incident is {_typed(command, words)} about?"
    select = blocks.select(options, action_id=PICK, placeholder="Choose an incident")
    typed = f"{setup.command()} {command.name} {messages.one_line(f'codename {words}'.strip(), QUOTED_LINE)}"
    section = blocks.section(said, block_id=f"{PICK}:{number}", accessory=select)
    return _clipped(said, section, blocks.context(f"Or type `{typed}`."))


def confirmation(command: Command, words: str, incident: Incident, *, number: int) -> Say:
    """Show what would be done to which incident, with a button that does it."""
    about = f"{mrkdwn.escape(_named(incident))}, {incident_lookup.linked(incident)}"
    said = _asks(command, words, f"{incident_lookup.place(incident)} ({about})")
    label = PLACE.sub("", command.asks)
    buttons = blocks.actions(
        blocks.button(
            label if " " in label else f"{label} incident", action_id=PICKED, value=incident.codename, style="primary"
        ),
        blocks.button("Choose another", action_id=AGAIN),
        block_id=f"{PICK}:{number}",
    )
    return _clipped(said, blocks.section(said), buttons)


def naming(answer: Say, incident: Incident) -> Say:
    """Add which incident an answer is about, unless it already says so."""
    if any(name in answer.text for name in (f"|{incident.codename}>", incident_lookup.place(incident))):
        return answer
    return Say(f"{answer.text}\nThis was for {incident_lookup.place(incident)}.", answer.blocks, answer.instead)


def _clipped(said: str, *shown: blocks.Block) -> Say:
    return Say(mrkdwn.clip(said, blocks.SECTION), shown, instead=True)


def _asks(command: Command, words: str, where: str) -> str:
    quoted = mrkdwn.escape(mrkdwn.cut(messages.typed(words), QUOTED)) or _typed(command, words)
    return f"{command.asks.format(where)}?\n" + "\n".join(f">{line}" for line in quoted.splitlines())


def _typed(command: Command, words: str) -> str:
    """Format a command as it was typed."""
    return f"`{' '.join(filter(None, (setup.command(), command.name, messages.one_line(words, QUOTED_LINE))))}`"


def _named(incident: Incident) -> str:
    return f"{incident.policy.name}: {mrkdwn.cut(incident.title, TITLE)}"
