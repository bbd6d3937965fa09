"""The time from `/incident declare` to the last effect, and until the command is acknowledged."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import time
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from stack.bench import load, signing
from stack.bench.table import TIMES, Figure, ReportTable
from stack.errors import StackError
from stack.outside import Records, SandboxWorkspace, until
from stack.supervisor.running import Stack

INJECTED_MS = 100
RUNS = 7
AT_ONCE = 50
TS = re.compile(r"\d{10}\.\d{6}")


def measure(stack: Stack, table: ReportTable, records: Records) -> None:
    """Measure both, on a stack with a worker."""
    workspace = SandboxWorkspace(stack.sandbox_url)
    table.head(f"Declaring, with {INJECTED_MS} ms injected in every Slack call")
    workspace.fault("latency", ms=INJECTED_MS)
    try:
        _to_the_last_effect(stack, table, records, workspace)
    finally:
        workspace.no_faults()
    until(records.settled, what="the effects of the benchmark's incidents", timeout_s=60)
    _acknowledged(stack, table)
    until(records.settled, what="the effects of the benchmark's incidents", timeout_s=120)


def warm(stack: Stack, records: Records) -> None:
    """Declare once: the first one reads the workspace and warms every path."""
    declare_once(stack, records)


def _to_the_last_effect(stack: Stack, table: ReportTable, records: Records, workspace: SandboxWorkspace) -> None:
    times, bare, steps = [], [], 0
    for _ in range(RUNS):
        seen = workspace.called()
        times.append(declare_once(stack, records))
        steps = longest_chain(workspace.calls(since=seen))
        bare.append(_bare_chain(stack))
    took_ms, ideal_ms = median(times) * 1000, steps * INJECTED_MS
    spread = f"{min(times) * 1000:.0f} to {max(times) * 1000:.0f}"
    reference = (
        f"{took_ms:.0f} ms ({spread}) over {steps} calls that need each other, {ideal_ms} ms; "
        f"the same three made by hand: {median(bare) * 1000:.0f} ms"
    )
    table.add(
        Figure("declare to the last effect, over the ideal", took_ms / ideal_ms, 1.15, TIMES, reference, "4.1 to 7.6")
    )


def declare_once(stack: Stack, records: Records) -> float:
    """Declare and return the seconds until the last effect was recorded as done."""
    known = set(records.codenames())
    began = time.time()
    ask = signing.declare(stack.env, sandbox_url=stack.sandbox_url)
    asyncio.run(load.clients(int(stack.env["PORT"]), ask, count=1, each=1)).must_be(200)
    (codename,) = set(records.codenames()) - known
    until(lambda: records.settled(codename), what="a declared incident's effects", timeout_s=60)
    ended: float = max(effect["ended_at"] for effect in records.effects(codename)).timestamp()
    return ended - began


def _bare_chain(stack: Stack) -> float:
    """Perform the ideal chain with nothing between its calls: open a channel, post in it, pin the post."""
    address = urlsplit(stack.env["SLACK_API_URL"])
    assert address.hostname, "the stack made this address"
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    headers = {"Authorization": f"Bearer {stack.env['SLACK_BOT_TOKEN']}", "Content-Type": "application/json"}

    def call(method: str, **arguments: str) -> dict[str, Any]:
        connection.request("POST", f"{address.path}{method}", json.dumps(arguments), headers)
        answer: dict[str, Any] = json.load(connection.getresponse())
        if not answer["ok"]:
            raise StackError(f"The benchmark's own {method} failed: {answer['error']}.")
        return answer

    began = time.perf_counter()
    channel = str(call("conversations.create", name=f"bare-{time.time_ns()}")["channel"]["id"])
    posted = call("chat.postMessage", channel=channel, text="bare")
    call("pins.add", channel=channel, timestamp=str(posted["ts"]))
    took = time.perf_counter() - began
    connection.close()
    return took


def longest_chain(calls: list[dict[str, Any]]) -> int:
    """Return the length of the longest chain of calls in which each needs an earlier one's response.

    A call needs the one that made its channel, and one that names a message needs the one that posted it.
    """
    depths = {"channel": 0, "message": 0}
    for call in sorted((one for one in calls if one["ok"]), key=lambda one: float(one["began_at"])):
        method, args = call["method"], call["args"]
        if method == "conversations.create":
            depths["channel"] = 1
        elif any(TS.fullmatch(str(args.get(name, ""))) for name in ("ts", "timestamp")):
            depths["message"] = max(depths["message"], depths["posted"] + 1 if "posted" in depths else 1)
        elif method == "chat.postMessage":
            depths["posted"] = depths["channel"] + 1
        else:
            depths["other"] = depths["channel"] + 1
    return max(depths.values())


def _acknowledged(stack: Stack, table: ReportTable) -> None:
    port = int(stack.env["PORT"])
    ask = signing.declare(stack.env, sandbox_url=stack.sandbox_url)
    bare = asyncio.run(load.clients(port, load.get("/health", port=port), count=AT_ONCE, each=4)).must_be(200)
    answers = asyncio.run(load.clients(port, ask, count=AT_ONCE, each=1)).must_be(200)
    reference = (
        f"median {answers.median_ms:.0f} ms; bare view at {AT_ONCE} at once: median {bare.median_ms:.0f} ms, "
        f"p99 {bare.percentile_ms(0.99):.0f} ms"
    )
    p99 = answers.percentile_ms(0.99) / 1000
    table.add(Figure(f"acknowledgement, p99 of {AT_ONCE} at once", p99, 0.35, " s", reference, "0.9 to 2.3 s for one"))
