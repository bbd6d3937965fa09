from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from django.db import models

from incidents.models import Incident, Person, page_routes

PAGE: Final = f"{page_routes.INCIDENT}evidence/<int:n>/"


class Kind(models.TextChoices):
    PROFILE = "profile", "Profile"
    BENCHMARK = "benchmark", "Benchmark"
    LOAD = "load", "Load test"
    COUNTS = "counts", "Counts"
    SWEEP = "sweep", "Sweep"
    PICTURE = "picture", "Picture"
    LINK = "link", "Link"
    FILE = "file", "File"


class State(models.TextChoices):
    READING = "reading", "processing"
    READY = "ready", "ready"
    KEPT = "kept", "stored as is"  # in no format that we read
    FAILED = "failed", "couldn't be read"
    WITHDRAWN = "withdrawn", "withdrawn"


class Phase(models.TextChoices):
    DURING = "during", "during the incident"
    AFTER = "after", "after the fix"


class Evidence(models.Model):
    """Something measured or captured, with its source and its time window.

    ``n`` counts within the incident from 1. ``origin`` says how it came: ``via`` (upload, api, slack, capture, otlp,
    terminal) and, if known, ``source``, ``query``, ``link``, ``file_name``, ``effect``. ``original`` and ``tree`` are
    storage keys. ``summary`` holds what the reader found, as plain values; ``says`` is the sentence, or why it could
    not be read. ``token`` fences: each reader takes the next number. ``unanswered`` counts the claims since anything
    was recorded, including the current one. ``event_n`` is its entry on the timeline, once it was read.
    """

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="evidence", db_index=False)
    n = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.FILE)
    state = models.CharField(max_length=10, choices=State.choices, default=State.READING)
    title = models.CharField(max_length=200)
    says = models.TextField(blank=True)
    format = models.CharField(max_length=20, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    origin = models.JSONField(default=dict, blank=True)
    link = models.URLField(max_length=2000, blank=True)
    window_from = models.DateTimeField(null=True)
    window_to = models.DateTimeField(null=True)
    phase = models.CharField(max_length=10, choices=Phase.choices, blank=True)
    variant = models.CharField(max_length=80, blank=True)
    is_control = models.BooleanField(default=False)
    original = models.CharField(max_length=100, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    tree = models.CharField(max_length=120, blank=True)
    summary = models.JSONField(default=dict, blank=True)
    added_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    event_n = models.PositiveIntegerField(null=True)
    token = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveSmallIntegerField(default=0)
    leased_until = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Evidence]]
    if TYPE_CHECKING:
        incident_id: int
        added_by_id: int | None

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "n"], name="evidence_numbered_once")]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(state="reading"), name="evidence_to_read"),
            models.Index(fields=["original"], name="evidence_original"),
            models.Index(
                fields=["id"],
                condition=models.Q(state="withdrawn") & ~models.Q(original="", tree=""),
                name="evidence_still_stored",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.incident_id}/{self.n} {self.kind}"

    def get_absolute_url(self) -> str:
        return page_routes.path_of(PAGE, codename=self.incident.codename, n=self.n)

    def is_withdrawable_by(self, person: Person) -> bool:
        """Return whether this person may withdraw it: the one who added it, the lead, and for a capture anyone."""
        return self.added_by_id in {None, person.pk} or self.incident.lead_id == person.pk

    @property
    def file_name(self) -> str:
        """The file's original name, only for people."""
        return str(self.origin.get("file_name", ""))

    @property
    def default_type(self) -> dict[str, Any] | None:
        """The sample type to show first (name, unit, total), if this is a profile."""
        types: list[dict[str, Any]] = self.summary.get("sample_types", [])
        return types[self.summary.get("default_type", 0)] if types else None


class HotFunction(models.Model):
    """A function that much of a profile passes through; ``share`` is its part, from 0 to 1. For *Seen before*."""

    evidence = models.ForeignKey(Evidence, on_delete=models.CASCADE, related_name="hot")
    digest = models.CharField(max_length=32)  # of the name, which may be too long for an index
    name = models.TextField()
    share = models.FloatField()
    self_share = models.FloatField()

    class Meta:
        indexes = [models.Index(fields=["digest", "evidence"], name="hot_function")]

    def __str__(self) -> str:
        return self.name
