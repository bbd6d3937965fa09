"""What the person who declares an incident is told about its channel."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from incidents.models import Incident, Person
from integrations.slack.interaction import carrying_out
from integrations.slack.protocol import mrkdwn
from workflows.effects import rate_limits
from workflows.planning.actions import CREATE, KINDS

A_MOMENT: Final = timedelta(seconds=30)


def opens(incident: Incident, *, by: Person) -> str:
    """Say that its channel opens shortly, and whether ``by`` is invited; or that nothing is being carried out."""
    if nothing_happens := carrying_out.none_does():
        return nothing_happens
    until = _waits_until()
    when = f"after {mrkdwn.when(until)}, because Slack is rate limiting Firekind" if until else "in a moment"
    opens = f"Its {'private channel' if incident.private else 'channel'} opens {when}"
    meanwhile = " Use direct messages until then." if until else ""
    if not by.not_invited:
        return f"{opens}, and you are invited to it.{meanwhile}"
    why = f"The app can't invite you, because it can't invite {by.kept_out.lower()}."
    return f"{opens}. {why} Ask someone in it to add you.{meanwhile}"


def _waits_until() -> datetime | None:
    """Return until when Slack lets no channel be created, if that is more than a moment."""
    return rate_limits.waits_until(KINDS["channel"].methods[CREATE], at=timezone.now() + A_MOMENT)
