"""How soon outsiders' open live pages end once an incident is retyped to a private type."""

from __future__ import annotations

import re
import time
from contextlib import closing
from statistics import median

from stack.bench.table import Figure, ReportTable
from stack.errors import StackError
from stack.outside import Records, Visitor, until
from stack.outside.readers import CHANGED, END, HEARD, Readers, reading
from stack.supervisor.running import Stack

STREAMS, RUNS = 200, 5
# This many, because each person may only have so many streams.
OUTSIDERS = (
    "Marcus Bell", "Hannah Weiss", "Diego Quispe", "Carlos Mendes", "Nadia Rahimi", "Ingrid Solberg",
    "Leilani Kealoha", "Kofi Mensah", "Wei Chen", "Priya Raman",
)  # fmt: skip
TRIES = 20
TARGET_MS = 2000
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


def measure(stack: Stack, table: ReportTable, records: Records) -> None:
    """Retype with many open streams; the time for a plain note to reach them all is the reference."""
    table.head(f"Turning private while {STREAMS} outsiders look on")
    with closing(Visitor(stack.base_url)) as ada:
        ada.sign_in_as("Ada Okafor")
        cookies = sessions(stack.base_url)
        runs = [_once(stack, records, ada, cookies) for _ in range(RUNS)]
    told_ms, ended_ms = ([one[which] * 1000 for one in runs] for which in (0, 1))
    reference = f"median {median(ended_ms):.0f} ms; a note reaches them in {median(told_ms):.0f} ms"
    table.add(Figure("the last stream ends, slowest of the runs", max(ended_ms), TARGET_MS, " ms", reference))


def sessions(base_url: str) -> list[str]:
    """Sign in everyone left out by these incidents' policies, and return their cookies."""
    cookies = []
    for name in OUTSIDERS:
        with closing(Visitor(base_url)) as visitor:
            cookies.append(visitor.sign_in_as(name).cookie)
    return cookies


def _once(stack: Stack, records: Records, ada: Visitor, cookies: list[str]) -> tuple[float, float]:
    """Return the seconds from each response until the last stream got a note, and until it ended."""
    codename = ada.fill("/declare", {"title": "A token leaked"}).strip("/").split("/")[1]
    until(records.settled, what="the effects of the benchmark's incidents", timeout_s=60)
    page = f"/incidents/{codename}/"
    with reading(stack.base_url, f"{page}stream?n=999999", cookies=cookies, count=STREAMS) as readers:
        readers.wait(HEARD)
        ada.fill(page, {"kind": "note", "text": "look at the graph"}, to=f"{page}write")
        told_s = _since(time.monotonic(), readers, CHANGED)
        return told_s, _since(retype(ada, codename), readers, END)


def _since(answered_at: float, readers: Readers, word: bytes) -> float:
    return max(0.0, readers.wait(word) - answered_at)


def retype(ada: Visitor, codename: str) -> float:
    """Confirm the retype to security as shown, and return the moment of the response; it was committed before that.

    People who join meanwhile change the plan, which is then shown again. Raises StackError if that never ends.
    """
    path = f"/incidents/{codename}/retype"
    for _ in range(TRIES):
        form = dict(HIDDEN.findall(ada.get(f"{path}?to=security").source))
        if ada.post(path, {**form, "to": "security"}).status == 302:
            return time.monotonic()
    raise StackError("The plan of the retype changes all the time.")
