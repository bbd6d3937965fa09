"""Open up a private incident with a summary that one person writes and another reads and confirms."""

from __future__ import annotations

from typing import Final

from incidents import lifecycle, numbered
from incidents.lifecycle import opening
from incidents.models import Incident, Source
from integrations.slack.interaction import incident_lookup
from integrations.slack.interaction.answers import Answer, Nothing, Open
from integrations.slack.interaction.request import SlackRequest, keep
from integrations.slack.protocol import blocks, mrkdwn

WRITE: Final = "firekind:open-up"
CONFIRM: Final = "firekind:confirm-summary"
ASKS: Final = (
    "Write what everyone may read. Once someone else confirms it, it is published {}. Nothing else is, not even the "
    "title."
)
CONFIRMS: Final = "*Everyone in the workspace will be able to read this and nothing else. You cannot undo this.*"
PUBLISHED: Final = "It is published {}."


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Open the modal in which the summary is written."""
    _must_be_private(incident)
    known = opening.proposed(incident) or opening.published(incident)
    text = blocks.text_input(action_id="summary", lines=True, initial=known.text if known else "")
    parts = [
        blocks.section(ASKS.format(mrkdwn.escape(opening.where(incident)))),
        blocks.field("The summary", text, block_id="summary"),
    ]
    kept = keep(i=incident.codename)
    return Open(
        blocks.modal("Public summary", parts, callback_id=WRITE, submit="Ask to confirm", close="Cancel", kept=kept)
    )


def submitted(asked: SlackRequest) -> Answer:
    """Store the summary until someone else confirms it; the channel is told who has to."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    lifecycle.open_up(incident, summary=form.text("summary"), by=asked.by, at=asked.at, source=Source.SLACK)
    return Nothing()


def pressed(asked: SlackRequest) -> Answer:
    """Show the waiting summary to a person who may confirm it."""
    incident = incident_lookup.named(asked.value.partition("|")[0], by=asked.by)
    waits = opening.proposed(incident)
    if waits is None:
        raise lifecycle.Refused("There's no summary to confirm: it was published or rewritten.")
    opening.must_be_for(asked.by, waits)
    says = f"{CONFIRMS}\n{PUBLISHED.format(mrkdwn.escape(opening.where(incident)))}"
    parts = [blocks.section(says), blocks.divider(), blocks.section(mrkdwn.escape(waits.text))]
    kept = keep(i=incident.codename, s=numbered.written(waits.pk, waits.written_at))
    return Open(
        blocks.modal("Publish this summary", parts, callback_id=CONFIRM, submit="Publish", close="Cancel", kept=kept)
    )


def confirmed(asked: SlackRequest) -> Answer:
    """Publish the summary as it was shown."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    summary = opening.as_shown(incident, form.kept["s"])
    lifecycle.publish(incident, summary=summary, by=asked.by, at=asked.at, source=Source.SLACK)
    return Nothing()


def _must_be_private(incident: Incident) -> None:
    if not incident.private:
        raise lifecycle.Refused(f"{incident.codename} is public: everyone can see it.")
