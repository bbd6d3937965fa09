"""Have findings let go of what was redacted of their entries: a hypothesis, or why a verdict was given."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.models import Finding, Round
from incidents.audited.copies import STANDS
from incidents.models import Incident


def forget(incident: Incident, said: Sequence[str]) -> None:
    """Put what says that it was redacted in place of these words."""
    Finding.objects.filter(incident=incident, claim__in=said).update(claim=STANDS)
    Round.objects.filter(finding__incident=incident, text__in=said).update(text=STANDS)
