"""The tables of reviews: people's text, comments and state. Composed sentences are never stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from django.db import models

from incidents.models import Incident, Person, page_routes

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

PAGE: Final = f"{page_routes.INCIDENT}review"


class ReviewState(models.TextChoices):
    DRAFT = "draft", "Draft"
    MEETING = "meeting", "Meeting planned"
    PUBLISHED = "published", "Published"


class Review(models.Model):
    """The review of one incident, created by the first thing that someone does with it."""

    incident = models.OneToOneField(Incident, on_delete=models.PROTECT, related_name="review")
    state = models.CharField(max_length=10, choices=ReviewState.choices, default=ReviewState.DRAFT)
    meeting_at = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    begun_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    objects: ClassVar[models.Manager[Review]]
    if TYPE_CHECKING:
        incident_id: int
        sections: RelatedManager[ReviewSection]

    class Meta:
        indexes = [models.Index(fields=["state", "-changed_at"], name="review_list")]

    def __str__(self) -> str:
        return f"{self.incident_id} {self.state}"

    def get_absolute_url(self) -> str:
        return page_routes.path_of(PAGE, codename=self.incident.codename)

    @property
    def standing(self) -> str:
        """The state that a form for planning the meeting carries: the review's state and the meeting's time."""
        return f"{self.state} {self.meeting_at.isoformat()}" if self.meeting_at else self.state

    @property
    def newest(self) -> str:
        """The state that a form for publishing carries: when someone last changed the review."""
        return self.changed_at.isoformat()


class ReviewSection(models.Model):
    """The entry to which a section was composed (``read_to``), and the newest version of people's text.

    ``forgot`` counts redactions that changed that text: a form opened before one is out of date.
    """

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="sections", db_index=False)
    key = models.CharField(max_length=20)
    read_to = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=0)
    forgot = models.PositiveIntegerField(default=0)

    objects: ClassVar[models.Manager[ReviewSection]]
    if TYPE_CHECKING:
        texts: RelatedManager[SectionText]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["review", "key"], name="review_section_once")]

    def __str__(self) -> str:
        return f"{self.review_id} {self.key} v{self.version}"

    @property
    def seen(self) -> str:
        """Identifies one state of people's text."""
        return f"{self.version}.{self.forgot}"


class SectionText(models.Model):
    """Text that someone wrote in a section: one row per version, of which the newest is shown.

    Only a redaction changes a row.
    """

    section = models.ForeignKey(ReviewSection, on_delete=models.CASCADE, related_name="texts", db_index=False)
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()

    objects: ClassVar[models.Manager[SectionText]]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["section", "version"], name="section_text_once")]

    def __str__(self) -> str:
        return f"{self.section_id} v{self.version}"


class ReviewComment(models.Model):
    """A comment on a section; ``settled_at`` is set once it is settled."""

    section = models.ForeignKey(ReviewSection, on_delete=models.CASCADE, related_name="comments")
    text = models.TextField()
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")

    objects: ClassVar[models.Manager[ReviewComment]]

    def __str__(self) -> str:
        return f"{self.section_id} at {self.at}"
