"""The details of an incident: title, summary, people, roles, checklist, services, and being another's duplicate."""

from __future__ import annotations

import re
from typing import Final

from incidents import lifecycle
from incidents.lifecycle import rules
from incidents.models import Incident, Person, Source
from integrations.slack.interaction import carrying_out, incident_lookup, mentions, messages
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup

NUMBER: Final = re.compile(r"[0-9]{1,3}", re.ASCII)
CLEARS: Final = {"none", "nobody", "-"}


def rename(asked: SlackRequest, incident: Incident) -> Answer:
    """Change the title."""
    title = messages.typed(asked.words)
    incident = lifecycle.rename(incident, title=title, by=asked.by, at=asked.at, source=Source.SLACK)
    more = f" {rules.TITLE_CUT}" if rules.is_long(title) else ""
    return Say(f"{incident_lookup.linked(incident)} has its new title: {mrkdwn.escape(incident.title)}.{more}")


def summary(asked: SlackRequest, incident: Incident) -> Answer:
    """Write the summary, which latecomers read first."""
    said = messages.typed(asked.words)
    if not said:
        return Say(f"Say what a latecomer should read first: `{setup.command()} summary Customers cannot pay since 9.`")
    lifecycle.describe(incident, summary=said, by=asked.by, at=asked.at, source=Source.SLACK)
    return Say(f"{incident_lookup.linked(incident)} has its new summary.")


def bring(asked: SlackRequest, incident: Incident) -> Answer:
    """Bring in everyone who is mentioned."""
    people = mentions.people(asked.words, by=asked.by)
    lifecycle.bring_in(incident, people=people, by=asked.by, at=asked.at, source=Source.SLACK)
    names = ", ".join(mrkdwn.mention(one.chat_id, one.name) for one in people)
    return Say(f"{names} {'is' if len(people) == 1 else 'are'} in {incident_lookup.linked(incident)} now.")


def role(asked: SlackRequest, incident: Incident) -> Answer:
    """Give a role to the person mentioned; *nobody* leaves it open."""
    mentions.known(asked.words)
    words = mrkdwn.MENTION.sub("", asked.words).rstrip(".,!").split()
    clears = bool(words) and words[-1].lower() in CLEARS
    name = mrkdwn.unescape(" ".join(words[:-1] if clears else words)).rstrip(":,")
    if not name:
        roles = ", ".join(mrkdwn.escape(one) for one in incident.policy.roles) or "none of its own"
        return Say(f"Say which role: `{setup.command()} role Scribe @someone`. The type's roles: {roles}.")
    holder = None if clears else _one(asked)
    lifecycle.set_role(incident, role=name, holder=holder, by=asked.by, at=asked.at, source=Source.SLACK)
    whose = "open" if holder is None else f"{mrkdwn.mention(holder.chat_id, holder.name)} now"
    return Say(f"The role {mrkdwn.escape(name)}: {whose}.")


def checklist(asked: SlackRequest, incident: Incident) -> Answer:
    """Check an item of the checklist off or back on, by its number; without a number, show the list."""
    items, said = incident.policy.checklist, asked.words.strip()
    if not items:
        return Say(f"{incident.policy.name} has no checklist.")
    if NUMBER.fullmatch(said) and 0 < int(said) <= len(items):
        item = items[int(said) - 1]
        done = item not in incident.checked
        incident = lifecycle.check_off(incident, item=item, done=done, by=asked.by, at=asked.at, source=Source.SLACK)
    rows = (f"{'✓' if one in incident.checked else '○'}  {n}. {mrkdwn.escape(one)}" for n, one in enumerate(items, 1))
    return Say("\n".join([*rows, f"`{setup.command()} checklist 1` checks off an item, or puts it back."]))


def duplicate(asked: SlackRequest, incident: Incident) -> Answer:
    """End it as a duplicate of the incident that is named."""
    if not asked.words:
        return Say(f"Say of which incident: `{setup.command()} duplicate amber-otter`.")
    of, _ = incident_lookup.first_word(asked.words, by=asked.by)
    if of is None:
        raise incident_lookup.no_such()
    lifecycle.duplicate(incident, of=of, by=asked.by, at=asked.at, source=Source.SLACK)
    return Say(f"{incident_lookup.linked(incident)} is ended as a duplicate of {incident_lookup.linked(of)}.")


def services(asked: SlackRequest, incident: Incident) -> Answer:
    """Set the affected services, separated by commas; without any, show the current ones."""
    said = messages.typed(asked.words)
    if said:
        named = [] if said.lower() in CLEARS else said.split(",")
        incident = lifecycle.serve(incident, services=named, by=asked.by, at=asked.at, source=Source.SLACK)
    names = ", ".join(mrkdwn.escape(one) for one in incident.services) or "none"
    hint = "" if said else f"\n`{setup.command()} services checkout, payments` names them, `none` clears them."
    return Say(f"Affected services of {incident_lookup.linked(incident)}: {names}.{hint}")


def archive(asked: SlackRequest, incident: Incident) -> Answer:
    """Archive the channel of an incident that has ended."""
    lifecycle.archive_channel(incident, by=asked.by, at=asked.at, source=Source.SLACK)
    archived = f"The channel of {incident_lookup.linked(incident)} is being archived. Only a person can unarchive it."
    return Say(carrying_out.none_does() or archived)


def _one(asked: SlackRequest) -> Person:
    people = mentions.people(asked.words, by=asked.by)
    if len(people) != 1:
        raise lifecycle.Refused("Name one person: type @ and choose them from Slack's list.")
    return people[0]
