"""The tables of reviews: what people made of what was composed. What was composed is never stored."""

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
    """The review of one incident, from the first thing that somebody did with it."""

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
        """What a form bears that plans its meeting: where it stands, and when that is."""
        return f"{self.state} {self.meeting_at.isoformat()}" if self.meeting_at else self.state

    @property
    def newest(self) -> str:
        """What a form bears that publishes it: when somebody did something with it last."""
        return self.changed_at.isoformat()


class ReviewSection(models.Model):
    """How far a section has read the timeline (``read_to``), and which version of people's text is the newest.

    ``forgot`` counts redactions that took words out of that text: a form that was open meanwhile is out of date.
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
        """What tells one state of people's text from another."""
        return f"{self.version}.{self.forgot}"


class SectionText(models.Model):
    """What somebody wrote in a section: one row a version, the newest is shown. Only a redaction changes one."""

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
    """What somebody says about a section; ``settled_at`` once it was dealt with."""

    section = models.ForeignKey(ReviewSection, on_delete=models.CASCADE, related_name="comments")
    text = models.TextField()
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")

    objects: ClassVar[models.Manager[ReviewComment]]

    def __str__(self) -> str:
        return f"{self.section_id} at {self.at}"
