"""Evidence from Slack: a modal for files and links, a link typed directly, and the files of captured messages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from evidence.intake import fetching, receiving
from evidence.models import Evidence
from evidence.models.evidence import Phase, State
from incidents.models import Incident, Person
from integrations.slack.interaction import incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Open, Say, Wrong
from integrations.slack.interaction.messages import SharedFile
from integrations.slack.interaction.request import SlackRequest, keep
from integrations.slack.protocol import blocks, mrkdwn, setup

CALLBACK: Final = "firekind:evidence"
LISTED: Final = 6
FILES: Final = 10
SAYS: Final = 200


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Put a link on the timeline immediately; without a link, open the modal with the evidence so far."""
    if not asked.words:
        return Open(modal(incident))
    link, title = _linked(asked.words)
    if "://" not in link:
        root = setup.command()
        return Say(f"`{root} evidence` opens a form for files; `{root} evidence https://… title` adds a link.")
    receiving.add_link(incident, link=link, title=title, by=asked.by, via="slack", at=asked.at)
    return Say(f"Link added to the evidence of {incident_lookup.linked(incident)}.")


def _linked(said: str) -> tuple[str, str]:
    """Split a link off what was typed, and return it with a title: the other words, or else the link's own label."""
    word, rest = incident_lookup.parted(said)
    given = mrkdwn.LINK.fullmatch(word)
    if given is None:
        return messages.typed(word), messages.typed(rest)
    address, label = mrkdwn.unescape(given[1]), mrkdwn.unescape(given[2] or "")
    return address, messages.typed(rest) or (label if label not in address else "")


def submitted(asked: SlackRequest) -> Answer:
    """Add the modal's files and link; the files are downloaded and read afterwards."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    found, link, title = form.files("files"), form.text("link").strip(), form.text("title").strip()
    if not found and not link:
        return Wrong({"files": "Choose a file, or paste a link below."})
    if link:
        receiving.add_link(incident, link=link, title=title, by=asked.by, via="slack", at=asked.at)
    bring(incident, found, by=asked.by, at=asked.at, title=title if len(found) == 1 else "", phase=form.text("phase"))
    what = "The result is posted in the channel once it has been read." if found else "The link was added."
    return Say(f"{what} {mrkdwn.link(page(incident), 'All evidence')}")


def bring(
    incident: Incident,
    found: Iterable[SharedFile],
    *,
    by: Person,
    at: datetime,
    title: str = "",
    phase: str = "",
) -> int:
    """Add files of the workspace as evidence, each once; return how many were new."""
    brought = (
        fetching.expect(incident, ref=one.id, title=title, by=by, via="slack", at=at, file_name=one.name, phase=phase)
        for one in found
    )
    return sum(one is not None for one in brought)


def modal(incident: Incident) -> blocks.Block:
    """Build the form: the evidence so far, then a file or a link."""
    phases = [blocks.option(str(one.label).capitalize(), one.value) for one in Phase]
    parts = [
        blocks.section(_listed(incident)),
        blocks.field(
            "Files",
            blocks.file_input(action_id="files", most=FILES),
            block_id="files",
            optional=True,
            hint="Profiles, benchmarks, load tests or pictures. The format is detected.",
        ),
        blocks.field("Or a link", blocks.url_input(action_id="link"), block_id="link", optional=True),
        blocks.field("Title", blocks.text_input(action_id="title", longest=150), block_id="title", optional=True),
        blocks.field("Measured", blocks.select(phases, action_id="phase"), block_id="phase", optional=True),
    ]
    kept = keep(i=incident.codename)
    return blocks.modal("Evidence", parts, callback_id=CALLBACK, submit="Add", close="Cancel", kept=kept)


def page(incident: Incident) -> str:
    """Return the URL of an incident's evidence."""
    return f"{incident_lookup.page(incident)}evidence/"


def _listed(incident: Incident) -> str:
    shown = Evidence.objects.filter(incident=incident).exclude(state=State.WITHDRAWN).order_by("-n")[: LISTED + 1]
    lines = [_line(incident, one) for one in shown[:LISTED]]
    more = mrkdwn.link(page(incident), "All evidence, and commands to run on a host")
    return "\n".join([*(lines or ["No evidence yet."]), more])


def _line(incident: Incident, one: Evidence) -> str:
    address = one.link or f"{page(incident)}{one.n}/"
    says = "being read" if one.state == State.READING else one.says
    said = f": {mrkdwn.escape(mrkdwn.cut(says, SAYS))}" if says else ""
    return f"{one.n}  {mrkdwn.link(address, mrkdwn.cut(one.title, 75))}{said}"
