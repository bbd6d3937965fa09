"""Sign-in with a Django account, reading its person in the same query."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User


class AccountBackend(ModelBackend):
    """Django's own accounts; every page asks for the person as well, so they come along."""

    def get_user(self, user_id: int) -> User | None:
        """Return an active account with its person, or None."""
        try:
            user = User.objects.select_related("person").get(pk=user_id)
        except User.DoesNotExist:
            return None
        return user if self.user_can_authenticate(user) else None
