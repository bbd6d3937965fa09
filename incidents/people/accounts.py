"""Sign-in with a Django account, reading its person in the same query."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from incidents.models import Person
from incidents.written_rows import WrittenRows

ACCOUNT: Final = WrittenRows(User, of="u", beside={"person": WrittenRows(Person, of="p")})
OF_ID: Final = "FROM auth_user u LEFT JOIN incidents_person p ON p.user_id = u.id WHERE u.id = %s"


class AccountBackend(ModelBackend):
    """Django's own accounts; every page also needs the person, so both are read together."""

    def get_user(self, user_id: int) -> User | None:
        """Return an active account with its person, or None."""
        found = ACCOUNT.first(OF_ID, [user_id])
        return found if found is not None and self.user_can_authenticate(found) else None
