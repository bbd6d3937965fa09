"""Remove redacted words from findings: a hypothesis, or the reason for a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.models import Finding, Round
from incidents.audited.copies import STANDS
from incidents.models import Incident


def forget(incident: Incident, said: Sequence[str]) -> None:
    """Replace these words with the redaction notice."""
    Finding.objects.filter(incident=incident, claim__in=said).update(claim=STANDS)
    Round.objects.filter(finding__incident=incident, text__in=said).update(text=STANDS)
