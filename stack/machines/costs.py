"""What one responder, one change, one page and one declare cost each part, in processor time and memory.

The estimate in docs/scaling.md is computed from these; `estimated` repeats it from the measurements.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from html import unescape
from typing import Final
from urllib.parse import urlencode

import psutil

from stack.chaos.acting import LINK
from stack.chaos.scenario import AT_THE_WEB
from stack.machines.fleet import Fleet
from stack.outside import Records, SandboxWorkspace, Visitor, until
from stack.outside.readers import HEARD, reading

LOOK: Final = re.compile(r'hx-get="(/incidents/[^"]+/live[^"]*)"')
SEEN: Final = re.compile(r'id="seen" name="seen" value="([^"]*)"')
WHO: Final = "Ada Okafor"
STREAMS, CHANGES, PAGES, DECLARES = 80, 10, 60, 20  # a person may have 20 streams
PATIENCE_S: Final = 120


@dataclass(frozen=True, slots=True)
class MeasuredCosts:
    """Milliseconds of processor time, and KiB of memory."""

    stream_kib: float
    stream_change_ms: float  # of the web, for each open page that is notified of a change
    all_heard_s: float  # until the last of these streams was notified
    page_ms: float  # of the web, for a whole incident page
    page_database_ms: float
    news_ms: float  # of the web, for what an open page fetches once it was notified of a change
    news_database_ms: float
    declare_ms: Mapping[str, float]  # of each part, including everything that follows from it


@dataclass(frozen=True, slots=True)
class AssumedLoad:
    """Who the estimate is for: how many people there are, and what they do."""

    responders: int = 10_000
    incidents: int = 1_000
    changes_a_minute: float = 2.0  # of each open incident's timeline, while people respond
    pages_a_minute: float = 1.0  # whole pages that each responder opens
    declares_a_minute: float = 20.0


def measured(fleet: Fleet, codename: str) -> MeasuredCosts:
    """Measure everything on otherwise idle machines."""
    stream_kib, stream_change_ms, all_heard_s = _streams(fleet, codename)
    page, news = _pages(fleet, codename)
    return MeasuredCosts(stream_kib, stream_change_ms, all_heard_s, *page, *news, _declares(fleet))


def estimated(costs: MeasuredCosts, load: AssumedLoad) -> dict[str, float]:
    """Compute how many cores of each part a load takes, and its memory for open pages in GiB. Pure.

    Each responder has one page open and follows one incident. A change notifies every page that shows its incident, and
    each fetches what is new.
    """
    changes_s = load.incidents * load.changes_a_minute / 60
    told_s = changes_s * load.responders / load.incidents
    pages_s = load.responders * load.pages_a_minute / 60
    declares_s = load.declares_a_minute / 60
    declare = costs.declare_ms
    return {
        "web, cores": (
            told_s * (costs.stream_change_ms + costs.news_ms) + pages_s * costs.page_ms + declares_s * declare["web"]
        )
        / 1000,
        "PostgreSQL, cores": (
            told_s * costs.news_database_ms + pages_s * costs.page_database_ms + declares_s * declare["PostgreSQL"]
        )
        / 1000,
        "workers, cores": declares_s * declare["worker"] / 1000,
        "pages told of a change, a second": told_s,
        "memory of open pages, GiB": load.responders * costs.stream_kib / (1 << 20),
    }


def table(costs: MeasuredCosts) -> dict[str, str]:
    """Return the figures as they are printed."""
    each = ", ".join(f"{name} {ms:.0f}" for name, ms in costs.declare_ms.items())
    return {
        f"an open page, KiB of the web's memory ({STREAMS} on one process)": f"{costs.stream_kib:.0f}",
        "telling one open page of a change, ms of the web": f"{costs.stream_change_ms:.2f}",
        f"until the last of {STREAMS} was told, s": f"{costs.all_heard_s:.2f}",
        "a whole page of an incident, ms of the web": f"{costs.page_ms:.1f}",
        "the same, ms of PostgreSQL": f"{costs.page_database_ms:.1f}",
        "what an open page fetches after a change, ms of the web": f"{costs.news_ms:.1f}",
        "the same fetch, ms of PostgreSQL": f"{costs.news_database_ms:.1f}",
        "a declare with all that follows, ms": each,
    } | {
        f"10,000 responders, 1,000 incidents: {name}": f"{n:.1f}" for name, n in estimated(costs, AssumedLoad()).items()
    }


def _streams(fleet: Fleet, codename: str) -> tuple[float, float, float]:
    here, there = fleet.machines["a"], fleet.machines["b"]
    web = there.processes["web"].pid
    path = f"/incidents/{codename}/"
    with ExitStack() as exits:
        writer = exits.enter_context(closing(Visitor(here.base_url).sign_in_as(WHO)))
        records = exits.enter_context(closing(Records(fleet.first.database_url)))
        readers = [exits.enter_context(closing(Visitor(there.base_url).sign_in_as(name))) for name in _names(fleet)]
        before = psutil.Process(web).memory_info().rss
        cookies = [one.cookie for one in readers]
        streams = exits.enter_context(reading(there.base_url, f"{path}stream", cookies=cookies, count=STREAMS))
        streams.wait(HEARD, patience_s=PATIENCE_S)
        kib = (psutil.Process(web).memory_info().rss - before) / 1024 / STREAMS
        longest = 0.0
        with _spent(lambda: _of(web)) as spent:
            for n in range(CHANGES):
                after = records.incident(codename)["last_n"]
                began = time.monotonic()
                writer.fill(path, {"text": f"change {n}"}, to=f"{path}note")
                longest = max(longest, streams.wait(b"data: %d" % (after + 1), patience_s=PATIENCE_S) - began)
    return kib, spent[0] * 1000 / CHANGES / STREAMS, longest


def _names(fleet: Fleet) -> list[str]:
    """Return the people on the sign-in page; each may only have a few streams."""
    people = SandboxWorkspace(fleet.first.sandbox_url).state()["people"]
    return [one["name"] for one in people if one["handle"] in AT_THE_WEB]


def _pages(fleet: Fleet, codename: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the cost of a whole page for the web and PostgreSQL, and of an open one that fetches what is new."""
    there, path = fleet.machines["b"], f"/incidents/{codename}/"
    with closing(Visitor(there.base_url).sign_in_as(WHO)) as one:
        source = one.get(path).source
        look, seen = LOOK.search(source), SEEN.search(source)
        assert look is not None, "an incident's page looks for what is new"
        assert seen is not None, "it says what it shows"
        one.fill(path, {"text": "this is new"}, to=f"{path}note")
        news = f"{unescape(look[1])}&{urlencode({'seen': unescape(seen[1])})}"
        assert "this is new" in one.get(news).source
        return _each(fleet, lambda: one.get(path).status), _each(fleet, lambda: one.get(news).status)


def _each(fleet: Fleet, ask: Callable[[], int]) -> tuple[float, float]:
    """Send requests to the second web host, and return what each one cost it and PostgreSQL, in ms."""
    web, database = fleet.machines["b"].processes["web"].pid, fleet.pair.first.pid
    with _spent(lambda: _of(web)) as of_web, _spent(lambda: _of(database)) as of_database:
        for _ in range(PAGES):
            assert ask() == 200
    return of_web[0] * 1000 / PAGES, of_database[0] * 1000 / PAGES


def _declares(fleet: Fleet) -> dict[str, float]:
    workers = [one.processes[name].pid for one in fleet.machines.values() for name in ("worker",)]
    parts: dict[str, Callable[[], float]] = {
        "web": lambda: _of(fleet.first.processes["web"].pid),
        "worker": lambda: sum(map(_of, workers)),
        "PostgreSQL": lambda: _of(fleet.pair.first.pid) + _of(fleet.pair.second.pid),
    }
    rabbit = fleet.rabbit
    if rabbit is not None:
        parts["RabbitMQ"] = lambda: _of(rabbit.server.pid)
    workspace = SandboxWorkspace(fleet.first.sandbox_url)
    before = {name: ask() for name, ask in parts.items()}
    for n in range(DECLARES):
        answer = workspace.command("ada", "general", f"/incident declare major: costs {n}")
        assert LINK.search(str(answer["response"]["text"]))
    with closing(Records(fleet.first.database_url)) as records:
        until(records.settled, what="what was declared is not settled", timeout_s=PATIENCE_S)
    return {name: (ask() - before[name]) * 1000 / DECLARES for name, ask in parts.items()}


@contextmanager
def _spent(ask: Callable[[], float]) -> Iterator[list[float]]:
    """Yield a list that holds the seconds of processor time once the block has ended."""
    before, found = ask(), list[float]()
    yield found
    found.append(ask() - before)


def _of(pid: int) -> float:
    """Sum the processor time of a process and its living descendants, which include PostgreSQL's sessions."""
    total = 0.0
    for one in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        try:
            used = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += used.user + used.system
    return total
