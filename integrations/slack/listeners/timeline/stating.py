"""Impact and the next step: stated in an update, or separately."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from incidents import lifecycle
from incidents.models import Incident, Person, Source
from incidents.reading import last_said
from integrations.slack.interaction import carrying_out, incident_lookup, mentions, messages
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import Form, SlackRequest
from integrations.slack.protocol import blocks, mrkdwn, setup

# At the beginning, or after a sentence or semicolon, but not the semicolon that ends an escape.
PART: Final = re.compile(
    r"(?:^|(?<!&lt)(?<!&gt)(?<!&amp);|(?<=[.!?\n]))\s*(impact|next(?: step)?)\s*:\s*", re.IGNORECASE
)
CLEARS: Final = {"none", "nothing", "-"}


@dataclass(frozen=True, slots=True)
class UpdateDraft:
    """What an update says: its words, impact, next step, and the next step's owner if one was named."""

    text: str = ""
    impact: str = ""
    next_step: str = ""
    owner: Person | None = None


def typed(asked: SlackRequest) -> UpdateDraft:
    """Parse an update as typed: *we roll back; impact: carts fail; next: @ana roll back*. Raises ``Refused``."""
    text, *rest = PART.split(asked.words)
    parts = zip(rest[::2], rest[1::2], strict=True)
    given = {label.lower().partition(" ")[0]: said.strip() for label, said in parts}
    owner, step = whose(given.get("next", ""), by=asked.by)
    return UpdateDraft(
        messages.typed(text.strip()), messages.typed(given.get("impact", "")), messages.typed(step), owner
    )


def whose(said: str, *, by: Person) -> tuple[Person | None, str]:
    """Split a step into its owner, the first person mentioned if any, and its text.

    Raises ``Refused`` for an unknown name in front; further on, an at sign is part of the text.
    """
    mentions.known(said, leading=True)
    if not mrkdwn.people(said):
        return None, said
    owner = mentions.picked(said, by=by)[0]
    return owner, mrkdwn.MENTION.sub("", said, count=1).strip() if said.startswith("<@") else said


def filled(form: Form) -> UpdateDraft:
    """Read the values of a modal."""
    return UpdateDraft(form.text("text"), form.text("impact"), form.text("next_step"), form.person("owner"))


def post(incident: Incident, said: UpdateDraft, asked: SlackRequest, **rest: Any) -> str:
    """Post an update, or only state impact and next step if it has no words of its own. Return what was done."""
    about: dict[str, Any] = {"by": asked.by, "at": asked.at, "source": Source.SLACK}
    if said.text or not (said.impact or said.next_step):
        stated: dict[str, Any] = {"impact": said.impact, "next_step": said.next_step, "owner": said.owner}
        lifecycle.update(incident, text=said.text, **stated, **about, **rest)
        return f"Update {carrying_out.posted()} {incident_lookup.place(incident)}."
    if said.impact:
        lifecycle.state_impact(incident, text=said.impact, **about)
    if said.next_step:
        lifecycle.state_next_step(incident, text=said.next_step, owner=said.owner, **about)
    return f"{carrying_out.posted().capitalize()} {incident_lookup.place(incident)}."


def next_step(asked: SlackRequest, incident: Incident) -> Answer:
    """State what is done next and who does it; *none* clears it."""
    if not asked.words:
        now = last_said.of([incident]).get(incident.pk, {}).get("next_step")
        said = f"Next step: {mrkdwn.escape(mrkdwn.cut(now.text, 300))}" if now else "No next step yet."
        return Say(f"{said}\n`{setup.command()} next @someone roll back` sets one, `none` clears it.")
    owner, step = whose(asked.words, by=asked.by)
    text = "" if step.lower() in CLEARS else messages.typed(step)
    about: dict[str, Any] = {"by": asked.by, "at": asked.at, "source": Source.SLACK}
    lifecycle.state_next_step(incident, text=text, owner=owner, **about)
    if not text:
        return Say(f"{incident_lookup.linked(incident)} has no next step now.")
    taker = owner or asked.by
    whom = "you" if taker == asked.by else mrkdwn.mention(taker.chat_id, taker.name)
    return Say(f"Next step of {incident_lookup.linked(incident)}, for {whom}: {mrkdwn.escape(mrkdwn.cut(text, 200))}")


def fields(incident: Incident, said: UpdateDraft) -> list[blocks.Block]:
    """Build a modal's fields; below each is the current value that it would replace."""
    now = last_said.of([incident]).get(incident.pk, {})
    hints = {kind: f"So far: {mrkdwn.cut(entry.text, 150)}" for kind, entry in now.items()}
    owner = said.owner.chat_id if said.owner is not None else None
    return [
        _field("Impact", "impact", said.impact, hints.get("impact", "Who is affected, and how badly.")),
        _field("Next step", "next_step", said.next_step, hints.get("next_step", "What is done next.")),
        blocks.field(
            "Whose step?",
            blocks.person_select(action_id="owner", chosen=owner),
            block_id="owner",
            hint="Yours, if you choose no one.",
            optional=True,
        ),
    ]


def _field(label: str, name: str, said: str, hint: str) -> blocks.Block:
    written = blocks.text_input(action_id=name, lines=True, initial=said)
    return blocks.field(label, written, block_id=name, hint=hint, optional=True)
