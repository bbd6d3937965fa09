from __future__ import annotations

from django.db import models
from django.db.models import Q, QuerySet

from incidents.models import Person


class Delivery(models.Model):
    """A request from Slack that was handled, kept for some days so that nothing is done twice.

    ``words`` holds a command until its author has chosen an incident for it; no other content is kept. A typed command
    has a second row until its answer was sent, which a digest of its words identifies and which holds its time.
    """

    key = models.CharField(max_length=200, unique=True)
    received_at = models.DateTimeField()
    words = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [models.Index(fields=["received_at"], name="delivery_by_age")]

    def __str__(self) -> str:
        return self.key


class OnHome(models.Model):
    """An incident on a person's Home tab as last drawn. Slack shows that until the tab is redrawn.

    ``under_way`` is a digest of the actions shown as in progress; the tab is redrawn once they change.
    If Slack has not confirmed a tab, it may appear until ``unconfirmed_until``. ``earlier_until`` is what that was
    before the newest tab was sent, and is again once Slack confirms it. A row that is ``drawn_without`` stays although
    the newest tab is without its incident, because an earlier tab may still replace that.
    """

    chat_id = models.CharField(max_length=40)
    incident = models.ForeignKey("incidents.Incident", on_delete=models.CASCADE, related_name="+")
    under_way = models.CharField(max_length=16, blank=True, default="", db_default="")
    unconfirmed_until = models.DateTimeField(null=True)
    earlier_until = models.DateTimeField(null=True)
    drawn_without = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name = "on a Home tab"
        verbose_name_plural = "on Home tabs"
        constraints = [models.UniqueConstraint(fields=["chat_id", "incident"], name="once_on_a_home")]

    def __str__(self) -> str:
        return f"{self.chat_id}: {self.incident_id}"

    @classmethod
    def closable(cls) -> QuerySet[OnHome]:
        """Return rows that a tab's owner may lose sight of: incidents not everyone sees, and all on a guest's tab."""
        guests = Person.objects.filter(Q(is_guest=True) | Q(is_external=True), chat_id__isnull=False)
        hidden = Q(incident__private=True) | Q(incident__replays__private=True)
        return cls.objects.filter(hidden | Q(chat_id__in=guests.values("chat_id")))

    @classmethod
    def passing(cls) -> QuerySet[OnHome]:
        """Return rows of tabs to draw again in a while: an action is in progress, or Slack has not confirmed a tab."""
        return cls.objects.filter(~Q(under_way="") | Q(unconfirmed_until__isnull=False))


class CaughtUp(models.Model):
    """A person who joined an incident's channel and got the catch-up, which is sent only once."""

    chat_id = models.CharField(max_length=40)
    incident = models.ForeignKey("incidents.Incident", on_delete=models.CASCADE, related_name="+")

    class Meta:
        verbose_name_plural = "caught up"
        constraints = [models.UniqueConstraint(fields=["chat_id", "incident"], name="caught_up_once")]

    def __str__(self) -> str:
        return f"{self.chat_id}: {self.incident_id}"
