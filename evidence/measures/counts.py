"""Output of counting tools: strace -c, perf stat, perf trace -s, bpftrace maps, bcc tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from evidence.measures import bounded_text, counting
from evidence.measures.counting import CountTable
from evidence.profile.errors import BadProfile, TooMuch

NAME = "counts"
KIND = "counts"
TELLS = "it has the table of a tool that counts"
TOOLS = ("strace", "perf_stat", "perf_trace", "bpf_maps", "bcc_tables", "pprof_top")
MOST_TABLES, MOST_ROWS = 500, 20_000


@dataclass(slots=True)
class CountTables:
    """The tables of one file, in its order."""

    tables: list[CountTable]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values to be stored."""
        return {"measure": NAME, "tables": [counting.plain(table) for table in self.tables]}


def from_dict(kept: Mapping[str, Any]) -> CountTables:
    """Return what ``as_dict`` stored."""
    return CountTables([counting.reopened(table) for table in kept["tables"]])


def looks_like(head: bytes) -> bool:
    """Return whether one of the tools printed this."""
    return _tool(bounded_text.head(head)) is not None


def read(data: bytes) -> CountTables:
    """Read every table of a file. Raises BadProfile or TooMuch."""
    text = bounded_text.text(data)
    tool = _tool(text[: bounded_text.HEAD])
    if tool is None:
        raise BadProfile("It has no table of counts")
    tables = [table for table in tool.read(text) if table.rows]
    if not tables:
        raise BadProfile("Its tables of counts have no rows")
    if not all(table.columns for table in tables):
        raise BadProfile("One of its tables has no column that we know")
    if len(tables) > MOST_TABLES or sum(len(table.rows) for table in tables) > MOST_ROWS:
        raise TooMuch(f"It has more than {MOST_TABLES} tables or {MOST_ROWS:,} rows")
    return CountTables(tables)


def sentence(value: CountTables) -> str:
    """Say what counts most."""
    return counting.sentence(value.tables)


def compared(values: Sequence[CountTables]) -> str:
    """Say what changed most between the first and the last."""
    return counting.compared([value.tables[0] for value in values])


def _tool(text: str) -> ModuleType | None:
    tools = (import_module(f"evidence.measures.counters.{name}") for name in TOOLS)
    return next((tool for tool in tools if tool.looks_like(text)), None)
