"""Capture a profile on request, from one of the operator's sources."""

from __future__ import annotations

from incidents.models import Incident, Source
from integrations.slack.interaction import carrying_out
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup
from workflows import ports
from workflows.performing import capturing


def command(asked: SlackRequest, incident: Incident) -> Answer:
    """Request a capture: the source, then the kind of profile, then the seconds; without words, list the sources."""
    said = asked.words.split()
    if not said:
        return Say(_sources())
    source, kind, seconds = _read(said)
    done = capturing.ask(
        incident, source=source, kind=kind, seconds=seconds, by=asked.by, at=asked.at, via=Source.SLACK
    )
    follows = carrying_out.none_does() or "The result is posted in the channel."
    return Say(f"Requested: {mrkdwn.escape(done)}. {follows}")


def _read(said: list[str]) -> tuple[str, str, int | None]:
    """Tell kind and seconds apart, in either order: ``checkout cpu 30``, ``checkout 30s``."""
    source, *rest = said
    numbers = [one.removesuffix("s") for one in rest if one.removesuffix("s").isdecimal()]
    kinds = [one for one in rest if not one.removesuffix("s").isdecimal()]
    return source, " ".join(kinds), int(numbers[0][:6]) if numbers else None


def _sources() -> str:
    profiler = ports.profiler()
    lines = [f"`{one.name}`  {', '.join(one.kinds)}" for one in (profiler.sources() if profiler else ())]
    if not lines:
        return "Nothing can be captured yet. Your operator can add a source of profiles: PROFILE_SOURCES_FILE."
    return "\n".join([*lines, f"`{setup.command()} capture source [kind] [seconds]` captures one."])
