"""A house whose three vendors may take a request, not answer, and carry it out later; time passes only as told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any, Final

import httpx2
import pytest
from django.conf import settings
from django.utils import timezone

from incidents.models import Incident
from integrations.pagerduty.tests.straight import SETUP, StraightTransport
from integrations.slack.adapter import wire
from integrations.slack.tests.straight import StraightWire
from integrations.tests import duty as standing_by
from integrations.tests.duty import Duty
from integrations.tests.late_vendor import Killed
from integrations.trackers.adapter.wire import Carrier, TrackerReply, TrackerRequest
from integrations.trackers.fake.board import Board
from integrations.trackers.tests import board as boards
from workflows import ports
from workflows.channels import room_looks
from workflows.effects import rate_limits, work
from workflows.effects.failing import announcements, recovering
from workflows.models import Effect, Page
from workflows.paging import poll_pages
from workflows.performing import perform
from workflows.ports import VendorError
from workflows.reconcile import reconcile, sweep
from workflows.tickets import looks

PATIENCE: Final = timedelta(seconds=10)  # how long a caller waits for any vendor
NEVER: Final = -1


@dataclass(slots=True)
class Silence:
    """Requests of this name get no answer; they are carried out ``after_s`` after they were sent, or never."""

    name: str
    after_s: int
    times: int = 99
    kills: bool = False  # the worker that sent it


@dataclass(slots=True)
class Vendors:
    """The three vendors' time, what they are silent about, and what they took and have not carried out."""

    now: datetime = field(default_factory=timezone.now)
    silences: list[Silence] = field(default_factory=list)
    held: list[tuple[datetime, Callable[[], object]]] = field(default_factory=list)

    def seconds(self) -> float:
        """Return the time in seconds since 1970."""
        return self.now.timestamp()

    def tick(self) -> datetime:
        """Return the time, a little later each time, so that no two edits have the same."""
        self.now += timedelta(milliseconds=1)
        return self.now

    def arrive(self) -> None:
        """Carry out what is due, in the order in which it is; no one gets the answers."""
        while due := sorted((one for one in self.held if one[0] <= self.now), key=lambda one: one[0]):
            self.held.remove(due[0])
            with suppress(VendorError, httpx2.HTTPError, ConnectionResetError):
                due[0][1]()

    def take(self, name: str, request: Callable[[], Any]) -> Any:
        """Take one request. Raises ``TimeoutError`` if its caller gave up waiting."""
        self.arrive()
        silence = next((one for one in self.silences if one.times and fnmatchcase(name, one.name)), None)
        if silence is None:
            return request()
        silence.times -= 1
        if silence.after_s != NEVER:
            self.held.append((self.now + timedelta(seconds=silence.after_s), request))
        if silence.kills:
            raise Killed
        self.now += PATIENCE
        self.arrive()
        raise TimeoutError

    def call_slack(self, call: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """Return Slack's wire through these."""

        def taken(straight: StraightWire, method: str, **arguments: Any) -> dict[str, Any]:
            try:
                answer: dict[str, Any] = self.take(method, lambda: call(straight, method, **arguments))
            except TimeoutError as error:
                raise wire._broken(method, error) from error
            return answer

        return taken

    def call_pager(self, carry: Callable[..., httpx2.Response]) -> Callable[..., httpx2.Response]:
        """Return PagerDuty's transport through these."""

        def taken(straight: StraightTransport, request: httpx2.Request) -> httpx2.Response:
            try:
                name = f"{request.method} {request.url.path}"
                answer: httpx2.Response = self.take(name, lambda: carry(straight, request))
            except TimeoutError as error:
                raise httpx2.ReadTimeout("no answer", request=request) from error
            return answer

        return taken

    def carry_to(self, carrier: Callable[[Board], Carrier]) -> Callable[[Board], Carrier]:
        """Return the carriers of trackers through these."""

        def through(board: Board) -> Carrier:
            carry = carrier(board)

            def taken(request: TrackerRequest) -> TrackerReply:
                reply: TrackerReply = self.take(f"{request.method} tracker", lambda: carry(request))
                return reply

            return taken

        return through


@dataclass(slots=True)
class LateHouse:
    """A house, a pager and a tracker, and their time."""

    duty: Duty
    board: Board
    vendors: Vendors

    def pass_to(self, moment: datetime, incident: Incident) -> None:
        """Let time pass until a moment; workers do what is due meanwhile."""
        while True:
            self.work(incident)
            owed = Effect.objects.filter(incident=incident, state__in=["waiting", "running"])
            due = [one.leased_until if one.state == "running" else one.due_at for one in owed]
            due += [at for at, _ in self.vendors.held]
            later = min((at for at in due if at and at > self.vendors.now), default=moment) + timedelta(seconds=1)
            if later >= moment:
                self.vendors.now = max(self.vendors.now, moment)
                self.vendors.arrive()
                return
            self.vendors.now = later
            self.vendors.arrive()

    def work(self, incident: Incident) -> None:
        """Plan and do what is due."""
        for _ in range(9):
            reconcile.reconcile(incident.pk, at=self.vendors.now)
            with suppress(Killed):
                perform.drain(incident.pk, side_by_side=False)
            if incident.pk not in sweep.unplanned(at=self.vendors.now):
                return

    def look(self, incident: Incident) -> None:
        """Look at everything outside, as workers do in turn."""
        at = self.vendors.now
        for id in incident.resources.filter(kind="channel").values_list("external_id", flat=True):
            room_looks.look(self.duty.house.chat, id, at=at)
        Page.objects.update(looked_at=None)
        poll_pages.look_again(at=at)
        looks.look_again(at=at)
        recovering.retry(at=at)
        announcements.retry(at=at)


@contextmanager
def late_house(built: Duty, *, tracker: str = "github") -> Iterator[LateHouse]:
    """Put a copy of what was built, and a tracker of this kind, behind the ports."""
    vendors = Vendors()
    pagerduty: Any = SETUP  # has the fields of the settings
    with pytest.MonkeyPatch.context() as patch, standing_by.copied(built) as duty:
        patch.setattr(timezone, "now", lambda: vendors.now)
        patch.setattr(work, "time", SimpleNamespace(monotonic=vendors.seconds))
        patch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, pagerduty=pagerduty))
        patch.setattr(StraightWire, "call", vendors.call_slack(StraightWire.call))
        patch.setattr(StraightTransport, "handle_request", vendors.call_pager(StraightTransport.handle_request))
        patch.setattr(boards, "carrier", vendors.carry_to(boards.carrier))
        duty.house.slack.now = vendors.seconds
        duty.account.now = vendors.seconds
        board, adapter = boards.VENDORS[tracker](vendors.tick)
        rate_limits._blocked.clear()  # by the time of an earlier test, which may have been ahead
        with ports.using(chat=duty.house.chat, pager=duty.pager, tracker=adapter):
            yield LateHouse(duty, board, vendors)
