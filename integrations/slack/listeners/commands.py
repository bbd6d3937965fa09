"""What was typed after the slash command, carried out: looked up in the table, with its incident found or asked for."""

from __future__ import annotations

import difflib
import json
from typing import Final

from incidents.audited import audit_notes
from incidents.models import Incident
from integrations.slack.interaction import inbox, incident_lookup
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.listeners.command_table import ENDED, NAMED, Command
from integrations.slack.protocol import blocks, mrkdwn, setup

PICK: Final = "firekind:pick"
NEAR_ALONE, NEAR = 0.6, 0.75  # of what difflib counts


def run(asked: SlackRequest) -> Answer:
    """Carry out what was typed, or say what comes closest."""
    first, rest = [*asked.words.split(maxsplit=1), "", ""][:2]
    command = NAMED.get(first.lower()) if first else NAMED["help"]
    if command is None:
        return _closest(first, asked.words)
    asked = asked.saying(rest.strip())
    if command.run is not None:
        return command.run(asked)
    incident = incident_lookup.of_channel(asked.channel_id, by=asked.by)
    if incident is None:
        incident, said = incident_lookup.first_word(asked.words, by=asked.by)
        asked = asked.saying(said)
    return _about(command, asked, incident) if incident is not None else _picker(command, asked)


def picked(asked: SlackRequest) -> Answer:
    """Carry out the command that waited for its incident."""
    number = int(asked.block_id.rpartition(":")[2] or 0)
    waiting = json.loads(inbox.kept(number) or "{}")
    if not waiting:
        return Say("This was already done, or has expired. Type the command again.", instead=True)
    if waiting["by"] != asked.by.pk:
        return Say("Only the person who typed the command can choose.")
    incident = incident_lookup.named(asked.value, by=asked.by)
    answer = _about(NAMED[waiting["name"]], asked.saying(waiting["words"]), incident)
    inbox.spend(number)
    return Say(answer.text, answer.blocks, instead=True) if isinstance(answer, Say) else answer


def _about(command: Command, asked: SlackRequest, incident: Incident) -> Answer:
    assert command.about is not None, "run() has taken the other kind"
    audit_notes.read(incident, by=asked.by)
    return command.about(asked, incident)


def _picker(command: Command, asked: SlackRequest) -> Answer:
    incidents = incident_lookup.seen(asked.by).filter(active__in=command.of)[:100]
    options = [blocks.option(mrkdwn.cut(one.title, 75), one.codename, says=one.codename) for one in incidents]
    if not options:
        return Say(f"There is no {'ended' if command.of == ENDED else 'open'} incident to use this on.")
    inbox.keep(asked.number, json.dumps({"name": command.name, "by": asked.by.pk, "words": asked.words}))
    question = "Which incident is this for?"
    select = blocks.select(options, action_id=PICK, placeholder="Choose an incident")
    return Say(question, (blocks.section(question, block_id=f"{PICK}:{asked.number}", accessory=select),))


def _closest(first: str, said: str) -> Answer:
    root, quoted = setup.command(), mrkdwn.escape(mrkdwn.cut(first, 40))
    cutoff = NEAR_ALONE if first == said else NEAR  # *checkout is slow* is no checklist
    close = difflib.get_close_matches(first.lower(), NAMED, n=1, cutoff=cutoff)
    if close:
        return Say(
            f"Unknown command `{quoted}`. Did you mean `{root} {NAMED[close[0]].name}`? `{root} help` lists everything."
        )
    if " " in said:
        return Say(f"To open an incident, type `{root} declare {mrkdwn.escape(mrkdwn.cut(said, 200))}`.")
    return Say(f"Unknown command `{quoted}`. `{root} help` lists all commands.")
