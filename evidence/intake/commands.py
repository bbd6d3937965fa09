"""One-line commands for profilers that upload what they measured from the affected host. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

OFF_CPU: Final = (
    "kprobe:finish_task_switch* { $p = (struct task_struct *)arg0; @began[$p->pid] = nsecs;"
    " if (@began[tid]) { @ns[kstack, ustack, comm] = sum(nsecs - @began[tid]); delete(@began[tid]); } }"
    " interval:s:15 { exit(); } END { clear(@began); }"
)
# Frames come leaf first, the kernel's before the program's; a folded line begins at the root.
FOLD: Final = (
    r'/^ +/ { sub(/^ +/, ""); sub(/\+[0-9]+$/, ""); s = $0 (s == "" ? "" : ";" s); next }'
    r' /\]: [0-9]+$/ { n = $NF; sub(/^, */, ""); sub(/\]: [0-9]+$/, ""); print $0 ";" s " " n; s = "" }'
)


@dataclass(frozen=True, slots=True)
class CopyableCommand:
    """A command to copy: what it needs, and what it measures."""

    name: str
    says: str
    command: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A profiler: how it is run, where its file is, and what the file's numbers are if it does not say."""

    name: str
    says: str
    run: str
    source: str
    file: str = "@-"
    unit: str = ""


TOOLS: Final = (
    Tool(
        "perf",
        "CPU samples of the whole machine for 15 s, as root",
        "perf record -F 99 -a -g -o /tmp/fk.perf -- sleep 15 && perf script -i /tmp/fk.perf | gzip | ",
        "perf",
    ),
    Tool(
        "bpftrace",
        "off-CPU time for 15 s, as root: where threads wait",
        f"bpftrace -q -e '{OFF_CPU}' | awk '{FOLD}' | gzip | ",
        "bpftrace off-CPU",
        unit="nanoseconds",
    ),
    Tool(
        "py-spy",
        "a Python process for 15 s",
        "py-spy record -d 15 -f raw -o /tmp/fk.folded --pid PID && ",
        "py-spy",
        file="@/tmp/fk.folded",
    ),
    Tool(
        "async-profiler",
        "CPU of a Java process for 15 s",
        "asprof -d 15 -e cpu -o collapsed -f /tmp/fk.collapsed PID && ",
        "async-profiler",
        file="@/tmp/fk.collapsed",
    ),
    Tool(
        "tracing-flame",
        "spans of a Rust program, in its folder",
        "",
        "tracing-flame",
        "@tracing.folded",
        unit="nanoseconds",
    ),
    Tool("any file", "pprof, speedscope, JFR, a benchmark, a load test: detected automatically", "", "", file="@FILE"),
)


def lines(address: str, *, secret: str) -> Iterator[CopyableCommand]:
    """Yield each profiler's command; ``address`` is where the evidence is sent, ``secret`` a token for it."""
    for tool in TOOLS:
        about = {"title": f"{tool.source or 'Evidence'} on ", "source": tool.source, "unit": tool.unit, "wait": "30"}
        asked = "&".join(f"{name}={quote(value)}" for name, value in about.items() if value and name != "title")
        title = f"title={quote(about['title'])}$(hostname)"
        send = f"curl -sS -H 'Authorization: Bearer {secret}' --data-binary {tool.file} \"{address}?{title}&{asked}\""
        yield CopyableCommand(tool.name, tool.says, f"{tool.run}{send}")
