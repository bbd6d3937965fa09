"""People at the web who all act on one incident at the same time, repeatedly, for as long as told."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import httpx

from stack.outside.visitor import Visitor

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
PAUSE_S = (0.020, 0.110)
PATIENCE_S = 60
Choose = Callable[[str, random.Random], "Deed"]


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to send to an incident's page: a form, an optional file, and whether once per turn is enough."""

    path: str
    form: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    file: bytes = b""
    once: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of one deed; status 0 means no response."""

    who: str
    codename: str
    deed: Deed
    status: int
    at: float


class Seat:
    """One browser of one person, signed in, with the token that its forms need."""

    def __init__(self, base_url: str, name: str) -> None:
        with closing(Visitor(base_url)) as visitor:
            cookie = visitor.sign_in_as(name).cookie
        headers = {"Cookie": cookie, "Referer": f"{base_url}/", "Accept": "text/html"}
        self.name = name
        self.client = httpx.Client(base_url=base_url, headers=headers, timeout=PATIENCE_S)
        found = TOKEN.search(self.client.get("/declare").text)
        assert found is not None, f"{name} is signed in"
        self.token = found[1]

    def close(self) -> None:
        """Hang up."""
        self.client.close()

    def send(self, codename: str, deed: Deed) -> Sent:
        """Send a deed, and return the result."""
        began_at = time.monotonic()
        files = {"file": ("mine.folded", deed.file)} if deed.file else None
        data: dict[str, Any] = {"csrfmiddlewaretoken": self.token, **deed.form}
        try:
            status = self.client.post(f"/incidents/{codename}/{deed.path}", data=data, files=files).status_code
        except httpx.HTTPError:
            status = 0
        return Sent(self.name, codename, deed, status, began_at)

    def shown(self, codename: str, **asked: str) -> dict[str, str]:
        """Return the retype form's fields after its plan was shown; empty if there is no plan to confirm."""
        page = self.client.get(f"/incidents/{codename}/retype", params=asked)
        found = dict(HIDDEN.findall(page.text)) if page.status_code == httpx.codes.OK else {}
        return {name: value for name, value in found.items() if name != "csrfmiddlewaretoken"}


class Crowd:
    """Seats that act in turns: ``act`` lets them begin, ``rest`` returns once each has received its last response."""

    def __init__(self, seats: Mapping[Seat, Choose]) -> None:
        self.sent: list[Sent] = []
        self._seats = list(seats)
        self._target, self._turn, self._over = "", 0, False
        self._changed = threading.Condition()
        self._busy = 0
        self._threads = [
            threading.Thread(target=self._sit, args=(n, *one), daemon=True) for n, one in enumerate(seats.items())
        ]
        for thread in self._threads:
            thread.start()

    def act(self, codename: str) -> None:
        """Let everyone act on an incident, each at once and then repeatedly."""
        with self._changed:
            self._target, self._turn = codename, self._turn + 1
            self._changed.notify_all()

    def rest(self) -> None:
        """Stop, and wait for the last responses."""
        with self._changed:
            self._target = ""
            self._changed.wait_for(lambda: not self._busy)

    def leave(self) -> None:
        """End for good; everyone leaves."""
        with self._changed:
            self._over, self._target = True, ""
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

        for seat in self._seats:
            seat.close()

    def _sit(self, n: int, seat: Seat, choose: Choose) -> None:
        chance, turn, spent = random.Random(n), 0, set[str]()
        while called := self._called():
            codename, now = called
            turn, spent = (turn, spent) if turn == now else (now, set())
            deed = choose(codename, chance)
            sent = None if deed.path in spent else seat.send(codename, deed)
            spent |= {deed.path} if deed.once else set()
            self._heard(sent)
            time.sleep(chance.uniform(*PAUSE_S))

    def _called(self) -> tuple[str, int] | None:
        """Wait until there is something to do, and return the incident and the turn; None once it is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._target or self._over)
            self._busy += not self._over
            return None if self._over else (self._target, self._turn)

    def _heard(self, sent: Sent | None) -> None:
        with self._changed:
            self.sent += [sent] if sent else []
            self._busy -= 1
            self._changed.notify_all()
