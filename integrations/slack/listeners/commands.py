"""Carry out what was typed after the slash command: look it up in the table, and find or ask for its incident."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import replace
from typing import Final

from incidents import codename_typed
from incidents.audited import audit_notes
from incidents.models import Incident
from integrations.slack.interaction import carrying_out, inbox, incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.listeners import which_incident
from integrations.slack.listeners.command_table import NAMED, Command
from integrations.slack.protocol import blocks, setup

Waiting = tuple[Command, str, int]  # a command, its words, and the number of their delivery
# Other tools' names for our commands; only words that no title begins with.
ELSEWHERE: Final = {
    "close": "resolved",
    "closed": "resolved",
    "finish": "resolved",
    "severity": "retype",
    "sev": "retype",
    "assign": "lead",
    "escalate": "page",
    "info": "status",
}
SEPARATED: Final = re.compile(r"^[:,]\s+")
NEAR_ALONE, NEAR = 0.6, 0.75  # difflib's ratio


def run(asked: SlackRequest) -> Answer:
    """Carry out what was typed, or suggest the closest command."""
    first, command, rest = _parsed(asked.words)
    if command is None:
        return _closest(first, asked.saying(_undressed(asked.words)))
    asked = asked.saying(rest)
    if command.run is not None:
        return command.run(asked)
    incident = incident_lookup.of_channel(asked.channel_id, by=asked.by)
    if incident is not None:
        return _about(command, asked, incident)
    incident, said = incident_lookup.first_word(asked.words, by=asked.by)
    if incident is not None:
        return _elsewhere(command, asked.saying(said), incident)
    return _asks(command, asked) if which_incident.offers(asked) else which_incident.none_here(command, asked)


def acts(words: str) -> bool:
    """Return whether what was typed does something immediately, if there is an incident to do it to."""
    _, command, rest = _parsed(words)
    return command is not None and (which_incident.acts(command, rest) or (command.declares and bool(rest)))


def _parsed(words: str) -> tuple[str, Command | None, str]:
    """Return the first word, the command that it names, if any, and what was said to that."""
    first, rest = [*_undressed(words).split(maxsplit=1), "", ""][:2]
    command, rest = _of_two_words(first, rest) or (NAMED.get(_verb(first)), rest)
    return first, command, SEPARATED.sub("", rest.strip())


def _undressed(said: str) -> str:
    """Remove what surrounds a command: quotes, or the slash command itself, typed twice."""
    said = messages.unquoted(said)
    first, _, rest = said.partition(" ")
    return rest.strip() if first.lower() == setup.command().lower() else said


def _verb(first: str) -> str:
    """Return the typed name of a command, without what surrounds it; no word at all means help."""
    return codename_typed.core(first).lower() or ("help" if first in {"", "?"} else "")


def _of_two_words(first: str, rest: str) -> tuple[Command, str] | None:
    """Read *open up*, *next step* or *break glass* as the command it means, with the rest of the text."""
    second, after = [*rest.split(maxsplit=1), "", ""][:2]
    follows = second.rstrip(":,.!?").lower()
    for between in ("-", "") if follows.isalpha() else ():
        found = NAMED.get(f"{_verb(first)}{between}{follows}")
        if found is not None and (" " in found.usage or not after):
            return found, after
    return None


def picked(asked: SlackRequest) -> Answer:
    """Show what the waiting command would do to the chosen incident, or open its form."""
    waiting = _waiting(asked)
    if isinstance(waiting, Say):
        return waiting
    command, words, number = waiting
    incident = incident_lookup.named(asked.value, by=asked.by)
    if which_incident.acts(command, words):
        return which_incident.confirmation(command, words, incident, number=number)
    return _carried_out(waiting, asked, incident)


def confirmed(asked: SlackRequest) -> Answer:
    """Carry out the waiting command on the incident that was shown."""
    waiting = _waiting(asked)
    if isinstance(waiting, Say):
        return waiting
    return _carried_out(waiting, asked, incident_lookup.named(asked.value, by=asked.by))


def again(asked: SlackRequest) -> Answer:
    """Ask again which incident the waiting command is for."""
    waiting = _waiting(asked)
    if isinstance(waiting, Say):
        return waiting
    command, words, number = waiting
    return which_incident.question(command, words, _offered(command, asked), number=number)


def meant(asked: SlackRequest) -> Answer:
    """Carry out the suggestion for an unknown command, as if it had been typed; some open their form."""
    waiting = _waiting(asked)
    if isinstance(waiting, Say):
        return waiting
    command, words, number = waiting
    incident = incident_lookup.of_channel(asked.channel_id, by=asked.by) if command.about else None
    if command.opens is not None and (command.run is not None or incident is not None):
        about = () if incident is None else (incident,)
        return command.opens(asked.saying(words), *about)
    answer = run(asked.saying(f"{command.name} {words}"))
    if not isinstance(answer, Say):
        return answer  # a form that was closed can be opened again
    inbox.spend(number)
    return replace(answer, instead=True)


def _carried_out(waiting: Waiting, asked: SlackRequest, incident: Incident) -> Answer:
    command, words, number = waiting
    answer = _elsewhere(command, asked.saying(words), incident)
    inbox.spend(number)
    return replace(answer, instead=True) if isinstance(answer, Say) else answer


def _waiting(asked: SlackRequest) -> Waiting | Say:
    """Return the waiting command, its words and its number, or a message why the person who pressed may not use it."""
    said = asked.block_id.rpartition(":")[2]
    number = int(said) if said.isdecimal() else 0
    kept = json.loads(inbox.kept(number) or "{}")
    if not kept:
        return Say("This was already done, or has expired. Type the command again.", instead=True)
    if kept["by"] != asked.by.pk:
        return Say("Only the person who typed the command can choose.")
    return NAMED[kept["name"]], str(kept["words"]), number


def _asks(command: Command, asked: SlackRequest) -> Answer:
    _keep(command, asked.words, asked)
    return which_incident.question(command, asked.words, _offered(command, asked), number=asked.number)


def _keep(command: Command, words: str, asked: SlackRequest) -> None:
    inbox.keep(asked.number, json.dumps({"name": command.name, "by": asked.by.pk, "words": words}))


def _offered(command: Command, asked: SlackRequest) -> list[Incident]:
    return list(incident_lookup.seen(asked.by).filter(active__in=command.of)[:100])


def _elsewhere(command: Command, asked: SlackRequest, incident: Incident) -> Answer:
    answer = _about(command, asked, incident)
    return which_incident.naming(answer, incident) if isinstance(answer, Say) else answer


def _about(command: Command, asked: SlackRequest, incident: Incident) -> Answer:
    assert command.about is not None, "run() has taken the other kind"
    audit_notes.read(incident, by=asked.by)
    answer = command.about(asked, incident)
    if not isinstance(answer, Say) or not which_incident.acts(command, asked.words):
        return answer
    return replace(answer, text=carrying_out.said(answer.text))


def _closest(first: str, asked: SlackRequest) -> Answer:
    said = asked.words
    root, name, rest = setup.command(), messages.typed(first), said[len(first) :].strip()
    everything = f"`{root} help all` lists every command."
    cutoff = NEAR_ALONE if first == said else NEAR  # a title such as *checkout is slow* must not match *checklist*
    close = ELSEWHERE.get(name.lower()) or next(iter(difflib.get_close_matches(name.lower(), NAMED, 1, cutoff)), "")
    if close:
        typed = " ".join(filter(None, (root, NAMED[close].name, messages.one_line(rest, 200))))
        text = f"Unknown command `{messages.one_line(first, 40)}`. Did you mean `{typed}`? {everything}"
        return _offer(text, NAMED[close], rest, asked, label="Yes, do that")
    if " " in said:
        text = f"To open an incident, type `{root} declare {messages.one_line(said, 200)}`."
        return _offer(text, NAMED["declare"], said, asked, label="Declare an incident")
    return Say(f"Unknown command `{messages.one_line(first, 40)}`. {everything}")


def _offer(text: str, command: Command, words: str, asked: SlackRequest, *, label: str) -> Say:
    """Show what to type instead, with a button that does it."""
    if command.weighty:
        return Say(text)
    _keep(command, words, asked)
    button = blocks.button(label, action_id=which_incident.MEANT)
    return Say(text, (blocks.section(text), blocks.actions(button, block_id=f"{which_incident.PICK}:{asked.number}")))
