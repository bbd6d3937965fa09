from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower


class Role(models.TextChoices):
    """What a person may do in addition to everyone else; `incidents.people.roles` defines it."""

    RESPONDER = "responder", "Responder"
    MANAGER = "manager", "Manager"
    AUDITOR = "auditor", "Auditor"


class Person(models.Model):
    """Someone who responds: matched by email once across web and chat, then pinned by id.

    ``is_unlisted`` means that the connected chat workspace has no one with this id, because it is a different workspace
    now.
    """

    name = models.CharField(max_length=200)
    email = models.EmailField(blank=True, max_length=254)
    chat_id = models.CharField(max_length=64, null=True, blank=True, unique=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="person"
    )
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.RESPONDER)
    is_guest = models.BooleanField(default=False)
    is_bot = models.BooleanField(default=False)
    is_external = models.BooleanField(default=False)
    deactivated = models.BooleanField(default=False)
    is_unlisted = models.BooleanField(default=False, db_default=False)
    zone = models.CharField(max_length=64, blank=True, default="", db_default="")  # as the chat names it: Europe/Rome
    agrees_to_drills = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), condition=~models.Q(email=""), name="person_email_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def can_join(self) -> bool:
        """Whether a policy may bring this person in: never guests, bots, externals or leavers."""
        return not (self.is_guest or self.is_bot or self.is_external or self.deactivated)

    @property
    def not_invited(self) -> str:
        """Why an app cannot invite them; empty if it can."""
        said = {
            "has left the workspace": self.deactivated,
            "is not in the connected Slack workspace": self.is_unlisted,
            "is from another workspace": self.is_external,
            "is a guest": self.is_guest,
        }
        return next((what for what, holds in said.items() if holds), "")

    @property
    def kept_out(self) -> str:
        """The kind of people that may not do what members do, if this person is one: *Guests*; empty otherwise."""
        said = {
            "Deactivated accounts": self.deactivated,
            "Apps": self.is_bot,
            "People from other workspaces": self.is_external,
            "Guests": self.is_guest,
            "People who are not in the connected workspace": self.is_unlisted,
        }
        return next((who for who, holds in said.items() if holds), "")

    @property
    def initials(self) -> str:
        """One or two letters to show in place of a picture."""
        words = [word for word in self.name.split() if word[0].isalnum()]
        return "".join(word[0] for word in [*words[:1], *words[1:][-1:]]).upper() or "?"
