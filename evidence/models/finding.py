from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.db import models

from evidence.models.evidence import Evidence
from incidents.models import Incident, Person

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


class Verdict(models.TextChoices):
    OPEN = "open", "Open"
    PARTIAL = "partial", "Partial"
    REFUTED = "refuted", "Refuted"
    SUPPORTED = "supported", "Supported"
    ROOT_CAUSE = "root_cause", "Root cause"


class Finding(models.Model):
    """A hypothesis about the incident. ``verdict`` is that of its newest round; ``n`` counts within the incident."""

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="findings", db_index=False)
    n = models.PositiveIntegerField()
    claim = models.CharField(max_length=300)
    verdict = models.CharField(max_length=12, choices=Verdict.choices, default=Verdict.OPEN)
    by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    judged_at = models.DateTimeField()

    objects: ClassVar[models.Manager[Finding]]
    if TYPE_CHECKING:
        rounds: RelatedManager[Round]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "n"], name="finding_numbered_once")]

    def __str__(self) -> str:
        return self.claim


class Round(models.Model):
    """One test of a hypothesis: what was observed, and the verdict. Never changed once written."""

    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="rounds", db_index=False)
    n = models.PositiveIntegerField()
    verdict = models.CharField(max_length=12, choices=Verdict.choices)
    text = models.TextField(blank=True)
    by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    event_n = models.PositiveIntegerField(null=True)

    objects: ClassVar[models.Manager[Round]]
    if TYPE_CHECKING:
        supports: RelatedManager[Support]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["finding", "n"], name="round_numbered_once")]

    def __str__(self) -> str:
        return f"{self.n}: {self.verdict}"


class Support(models.Model):
    """Evidence that a round rests on, for the hypothesis or against it."""

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="supports", db_index=False)
    evidence = models.ForeignKey(Evidence, on_delete=models.PROTECT, related_name="supports")
    against = models.BooleanField(default=False)

    objects: ClassVar[models.Manager[Support]]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "evidence"], name="support_once")]

    def __str__(self) -> str:
        return f"{'against' if self.against else 'for'}: {self.evidence}"
