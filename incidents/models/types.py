from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils.functional import cached_property

from incidents.models.people import Person
from incidents.policies.policy import Policy

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


class IncidentTypeQuerySet(models.QuerySet["IncidentType"]):
    def usable(self) -> IncidentTypeQuerySet:
        """Types that a new incident may take, in their order, each with its policy."""
        return self.filter(archived_at=None).select_related("current").order_by("position", "slug")


class IncidentType(models.Model):
    """A kind of incident. What it asks for lives in its policy versions; ``current`` is the newest."""

    slug = models.SlugField(max_length=40, unique=True)
    position = models.PositiveIntegerField(default=0)
    is_default = models.BooleanField(default=False)
    archived_at = models.DateTimeField(null=True, blank=True)
    current = models.OneToOneField("PolicyVersion", null=True, on_delete=models.PROTECT, related_name="current_of")

    objects = IncidentTypeQuerySet.as_manager()
    if TYPE_CHECKING:
        versions: RelatedManager[PolicyVersion]

    class Meta:
        ordering = ["position", "slug"]
        constraints = [
            models.UniqueConstraint(fields=["is_default"], condition=models.Q(is_default=True), name="one_default_type")
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def policy(self) -> Policy:
        """The policy that a new incident of this type takes."""
        assert self.current is not None, "a type is created together with its first policy"
        return self.current.policy


class PolicyVersion(models.Model):
    """One version of a type's policy; never changed once written, so that old incidents keep theirs."""

    type = models.ForeignKey(IncidentType, on_delete=models.PROTECT, related_name="versions", db_index=False)
    number = models.PositiveIntegerField()
    body = models.JSONField()
    from_file = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["type", "number"]
        constraints = [models.UniqueConstraint(fields=["type", "number"], name="policy_number_once")]

    def __str__(self) -> str:
        return f"{self.body.get('slug')} v{self.number}"

    @cached_property
    def policy(self) -> Policy:
        """The stored body as a frozen value."""
        return Policy.from_dict(self.body)
