"""Sessions in the database that expire some time after sign-in and some time after their last use.

The row's `expire_date` decides: an expired session is not loaded, whatever its cookie says.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.utils import timezone

from incidents.claiming.shared_clock import clock
from incidents.outages import database_watch
from incidents.written_rows import WrittenRows
from integrations.identity.models import Session

UNKNOWN_LASTS = timedelta(hours=1)  # for someone who has not signed in: long enough to do so at a provider
BEGAN, SEEN, BROWSER, PLACE = "began_at", "seen_at", "browser", "place"
SESSION: Final = WrittenRows(Session, of="s")  # the first query of every page
UNENDED: Final = "FROM identity_session s WHERE s.session_key = %s AND s.expire_date > %s"


class SessionStore(db.SessionStore):
    """Django's database sessions, with owner and expiry in columns."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """Return our own model."""
        return Session

    def _get_session_from_db(self) -> Session | None:
        found = SESSION.first(UNENDED, [self.session_key, now()])
        if found is None:
            self._session_key = None
        return found

    def save(self, must_create: bool = False) -> None:
        """Save it. Django takes any fault of the database for a session that someone ended meanwhile, a bad request."""
        try:
            super().save(must_create)
        except UpdateError as error:
            if isinstance(error.__context__, database_watch.FAILURES):
                raise error.__context__ from error.__context__.__cause__
            raise

    def create_model_instance(self, data: Any) -> Session:
        """Return the row of a session, with its owner in a column."""
        row = cast("Session", super().create_model_instance(data))
        row.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        row.began_at, row.seen_at = moment(data.get(BEGAN)), moment(data.get(SEEN))
        row.browser, row.place = data.get(BROWSER, ""), data.get(PLACE, "")
        return row

    def get_expiry_date(self, **kwargs: Any) -> datetime:
        """Return when the session expires if it is not used again."""
        began, seen = moment(self.get(BEGAN)), moment(self.get(SEEN))
        if SESSION_KEY not in self or began is None or seen is None:
            return now() + UNKNOWN_LASTS
        rules = settings.FIREKIND.sign_in
        return min(began + rules.lasts, seen + rules.idle)

    def get_expiry_age(self, **kwargs: Any) -> int:
        """Return the seconds until it expires."""
        return max(0, int((self.get_expiry_date() - now()).total_seconds()))


def now() -> datetime:
    """Return the time by the clock that all hosts share: a session may be read on another one."""
    return clock.at(timezone.now())


def moment(seconds: float | None) -> datetime | None:
    """Convert a session's timestamp to a datetime."""
    return None if seconds is None else datetime.fromtimestamp(seconds, tz=timezone.get_default_timezone())


def of(user_id: int) -> Any:
    """Return a person's live sessions, the most recently used first."""
    return Session.objects.filter(user=user_id, expire_date__gt=now()).order_by("-seen_at")


def end(user_id: int, *, but: str | None = None) -> int:
    """End a person's sessions, all or all but one, and return how many there were."""
    return int(of(user_id).exclude(session_key=but).delete()[0])


def forget_ended() -> None:
    """Delete expired sessions."""
    Session.objects.filter(expire_date__lt=now()).delete()
