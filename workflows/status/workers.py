"""Whether any worker is running: workers send heartbeats, and leads are told when there are none.

Heartbeats use the database's clock, because the clocks of worker and web hosts may be an hour apart.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.models import Max, OuterRef, Q, Subquery

from incidents import visibility
from incidents.claiming import apart
from incidents.claiming.shared_clock import clock
from incidents.models import Incident, Person
from incidents.outages import database_watch
from incidents.written_rows import WrittenInsert
from workflows import ports
from workflows.chat_port import Chat
from workflows.models import WorkerProcess, WorkersGone
from workflows.planning.wording.card import Card
from workflows.planning.wording.marks import when
from workflows.ports import VendorError

log = logging.getLogger(__name__)

EVERY_S: Final = 5.0  # between a process's heartbeats
LATELY: Final = timedelta(seconds=20)
# Since the database was found away or read-only: web processes look every 15 s, workers report every 5.
REPORTED_S: Final = 30.0
KEPT: Final = timedelta(days=1)
ALIVE: Final = WrittenInsert(WorkerProcess, unique=["name"], update=["seen_at", "alone_since"])
KINDS = WORKER, EVIDENCE = "worker", "evidence"
SOCKET: Final = "socket"  # the process that listens to Slack in Socket Mode, if that is used
# Written as SQL, because every page of an incident runs it.
SEEN: Final = """
    SELECT max(seen_at), min(alone_since) FILTER (WHERE seen_at >= %s), current_setting('transaction_read_only') = 'on'
      FROM workflows_workerprocess WHERE kind = %s
"""
MEND: Final = "Start the workers, or check their log. Pending steps are carried out once they run."


@dataclass(frozen=True, slots=True)
class WorkersNow:
    """Since when no worker performs effects, and since when one cannot reach the broker; None if neither is so."""

    gone_since: datetime | None = None
    alone_since: datetime | None = None


def say_alive(name: str, *, kind: str, alone_since: datetime | None, at: datetime) -> None:
    """Record a process's heartbeat."""
    ALIVE.add([WorkerProcess(name=name, kind=kind, seen_at=clock.at(at), alone_since=alone_since)])


def can_report() -> bool:
    """Return whether the database takes heartbeats: a read-only one takes none, however many workers live."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone() == ("off",))


def forget_old(*, at: datetime) -> None:
    """Forget processes without a heartbeat for a day, and those of kinds that a newer version no longer has.

    The last of each kind is kept: as long as there is none, since when must remain known.
    """
    at = clock.at(at)
    gone = Q(seen_at__lt=at - LATELY) & ~Q(kind__in=KINDS)
    of_its_kind = WorkerProcess.objects.filter(kind=OuterRef("kind")).order_by("-seen_at", "pk")
    last = Q(kind__in=KINDS, pk=Subquery(of_its_kind.values("pk")[:1]))
    WorkerProcess.objects.filter(Q(seen_at__lt=at - KEPT) | gone).exclude(last).delete()


def now(*, at: datetime) -> WorkersNow:
    """Read the state of the workers; empty if none ever ran."""
    at = clock.at(at)
    with connection.cursor() as cursor:
        cursor.execute(SEEN, [at - LATELY, WORKER])
        found = cursor.fetchone()
    assert found is not None, "an aggregate always has a row"
    last, alone_since, is_read_only = found
    if is_read_only:
        _unreported_at[:] = [time.monotonic()]
    if last is not None:
        _last_seen[WORKER] = last
    return WorkersNow(_gone_since(last, at=at), alone_since)


def gone_since(*, at: datetime) -> datetime | None:
    """Return since when no worker performs effects, like ``now``; None while one does.

    The database is asked only once every heartbeat this process knows of is old: until then none can be gone.
    """
    last = _last_seen.get(WORKER)
    if last is not None and last >= clock.at(at) - LATELY:
        return None
    return now(at=at).gone_since


_last_seen: dict[str, datetime] = {}  # by kind, by the database's clock
_unreported_at = [-math.inf]  # when the database was last found to be read-only, by the monotonic clock


def evidence_gone_since(at: datetime) -> datetime | None:
    """Return since when no process reads evidence; None while one does, and if none ever did."""
    at = clock.at(at)
    last = WorkerProcess.objects.filter(kind=EVIDENCE).aggregate(last=Max("seen_at"))["last"]
    return _gone_since(last, at=at)


def _gone_since(last: datetime | None, *, at: datetime) -> datetime | None:
    """Return the last heartbeat of a kind if it is old; both times are by the database's clock.

    While the database was away or read-only, none could be recorded, so nothing is concluded until one has had the time
    since.
    """
    could_report_for_s = min(database_watch.database.closed_for_s, time.monotonic() - _unreported_at[-1])
    if could_report_for_s < REPORTED_S:
        return None
    return last if last is not None and last < at - LATELY else None


def living(*, at: datetime) -> set[str]:
    """Return the kinds with a recent heartbeat."""
    return set(WorkerProcess.objects.filter(seen_at__gte=clock.at(at) - LATELY).values_list("kind", flat=True))


def tell_leads(since: datetime) -> int:
    """Tell every lead of an open incident, once, that no worker is running; return how many were told.

    Leaves out those who may no longer see what they lead, such as someone removed from a private incident. The process
    that writes the row sends the messages: with the workers gone it is a web process, and there may be several. Called
    again, it tells those whose message the chat surely did not accept.
    """
    chat, leads = ports.chat(), _leads()  # read first: if this fails, everyone is left to the next look
    _, is_ours = WorkersGone.objects.get_or_create(since=since)
    again = _untold.pop(since, frozenset())
    if chat is None:
        return 0
    waiting = {lead.pk: lead for lead in leads if is_ours or lead.pk in again}
    _untold[since] = frozenset(waiting)
    return apart.each(waiting.values(), lambda lead: _told(chat, lead, since), what="those who lead")


def _leads() -> list[Person]:
    led = Incident.objects.filter(active=True).exclude(lead=None).values_list("pk", "lead")
    leading = {lead for pk, lead in led if visibility.who_may_see(pk, among=[lead])}
    return list(Person.objects.filter(pk__in=leading).exclude(chat_id=None))


def is_told(since: datetime) -> bool:
    """Return whether this process has told everyone it should."""
    return not _untold.get(since)


_untold: dict[datetime, frozenset[int]] = {}  # the leads, by since when no worker was running


def _card(since: datetime) -> Card:
    return Card(
        kind="workers-gone",
        title="Firekind can't page or invite anyone right now",
        text=("Its workers have been down since ", when(since), f". Page and invite people yourself for now. {MEND}"),
        link=settings.FIREKIND.base_url,
        link_label="Open Firekind",
        context=("You got this because you lead an open incident.",),
    )


def _told(chat: Chat, lead: Person, since: datetime) -> bool:
    _untold[since] -= {lead.pk}
    try:
        chat.tell(str(lead.chat_id), _card(since), mark=f"workers/{since.timestamp():.0f}/{lead.pk}")
    except VendorError as error:
        log.warning("could not tell lead %s that the workers are gone: %s", lead.pk, error)
        if error.retryable and not error.unknown:  # surely not delivered
            _untold[since] |= {lead.pk}
        return False
    return True
