"""Findings from Slack: a hypothesis or a verdict in one line, or a modal with those so far."""

from __future__ import annotations

import re
from typing import Final

from evidence.findings import findings
from evidence.models import Evidence, Finding
from evidence.models.evidence import State
from evidence.models.finding import Verdict
from incidents.forms.given import numbers
from incidents.models import Incident, Source
from integrations.slack.interaction import incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Open, Say
from integrations.slack.interaction.request import Form, SlackRequest, keep
from integrations.slack.protocol import blocks, mrkdwn

CALLBACK: Final = "firekind:finding"
NEW: Final = "new"
LISTED: Final = 10
CHOICES: Final = 40

# ``refuted: the protocol is expensive because …``, or ``refuted 3 because …``.
JUDGED: Final = re.compile(
    r"(?P<verdict>refuted|supported|partial(?:ly(?: true)?)?|open|root[ _-]cause)"
    r"(?:\s*:\s*|\s+(?=#?\d+\b))(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
BECAUSE: Final = re.compile(r"\s+because\s+", re.IGNORECASE)


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """State a hypothesis or give a verdict immediately from what was typed; without words, open the modal."""
    said = messages.typed(asked.words)
    if not said:
        return Open(modal(incident))
    judged = JUDGED.fullmatch(said)
    if judged is None:
        finding = findings.claim(incident, text=said, by=asked.by, at=asked.at, source=Source.SLACK)
        return Say(f"{_line(incident, finding)}\nAdd a verdict once you have evidence.")
    claim, because = [*BECAUSE.split(judged["rest"], maxsplit=1), ""][:2]
    finding = _meant(asked, incident, claim)
    _judge(asked, finding, verdict=_verdict(judged["verdict"]), text=because)
    return Say(_line(incident, finding))


def submitted(asked: SlackRequest) -> Answer:
    """Record the modal's hypothesis, its verdict, or both."""
    form = asked.filled
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    chosen, claim, verdict = form.text("finding"), form.text("claim").strip(), form.text("verdict")
    if chosen and chosen != NEW:
        finding = findings.claimed(incident, chosen)
    else:
        finding = findings.claim(incident, text=claim, by=asked.by, at=asked.at, source=Source.SLACK)
    if verdict and (verdict != Verdict.OPEN or form.text("text")):
        _judge(asked, finding, verdict=verdict, text=form.text("text"), form=form)
    return Say(_line(incident, finding))


def modal(incident: Incident) -> blocks.Block:
    """Build the form: the findings so far, then a hypothesis, a verdict, and the evidence for it."""
    known = findings.of(incident)
    options = [blocks.option(mrkdwn.cut(f"{one.n}. {one.claim}", 75), str(one.n)) for one in known[: CHOICES - 1]]
    new = blocks.option("New hypothesis", NEW)
    verdicts = [blocks.option(str(one.label), one.value) for one in Verdict]
    proofs = _proofs(incident)
    grounds = [
        blocks.field(label, blocks.select(proofs, action_id=name), block_id=name, optional=True)
        for name, label in (("supports", "Evidence for it"), ("against", "Evidence against it"))
    ]
    parts = [
        blocks.section(_listed(incident, known)),
        blocks.field("Finding", blocks.select([new, *options], action_id="finding", chosen=NEW), block_id="finding"),
        blocks.field(
            "Hypothesis",
            blocks.text_input(action_id="claim", longest=findings.CLAIM_CHARS, placeholder="The protocol is expensive"),
            block_id="claim",
            optional=True,
        ),
        blocks.field("Verdict", blocks.select(verdicts, action_id="verdict"), block_id="verdict", optional=True),
        blocks.field("Why?", blocks.text_input(action_id="text", lines=True), block_id="text", optional=True),
        *(grounds if proofs else ()),
    ]
    kept = keep(i=incident.codename)
    return blocks.modal("Finding", parts, callback_id=CALLBACK, submit="Save", close="Cancel", kept=kept)


def _meant(asked: SlackRequest, incident: Incident, claim: str) -> Finding:
    """Return the finding that is meant; words that match none become a new hypothesis."""
    try:
        return findings.claimed(incident, claim)
    except findings.Unclaimed:
        if claim.lstrip("#").isdecimal():
            raise
    return findings.claim(incident, text=claim, by=asked.by, at=asked.at, source=Source.SLACK)


def _judge(asked: SlackRequest, finding: Finding, *, verdict: str, text: str, form: Form | None = None) -> None:
    findings.judge(
        finding,
        verdict=verdict,
        text=text,
        supports=_chosen(form, "supports"),
        against=_chosen(form, "against"),
        by=asked.by,
        at=asked.at,
        source=Source.SLACK,
    )
    finding.refresh_from_db(fields=["verdict"])


def _chosen(form: Form | None, name: str) -> list[int]:
    return numbers([form.text(name)]) if form else []


def _verdict(said: str) -> str:
    said = said.lower()
    return "partial" if said.startswith("partial") else said.replace(" ", "_").replace("-", "_")


def _proofs(incident: Incident) -> list[blocks.Option]:
    shown = Evidence.objects.filter(incident=incident).exclude(state=State.WITHDRAWN).order_by("-n")[:CHOICES]
    return [blocks.option(mrkdwn.cut(f"{one.n}. {one.title}", 75), str(one.n)) for one in shown]


def _listed(incident: Incident, known: list[Finding]) -> str:
    lines = [_line(incident, one) for one in known[:LISTED]]
    page = mrkdwn.link(f"{incident_lookup.page(incident)}findings/", "All findings with their rounds")
    return "\n".join([*(lines or ["No findings yet."]), page])


def _line(incident: Incident, finding: Finding) -> str:
    verdict = str(Verdict(finding.verdict).label)
    address = f"{incident_lookup.page(incident)}findings/{finding.n}/"
    said = mrkdwn.link(address, mrkdwn.cut(finding.claim, 200))
    return (
        f"*{verdict}*  {finding.n}. ~{said}~"
        if finding.verdict == Verdict.REFUTED
        else f"*{verdict}*  {finding.n}. {said}"
    )
