"""``perf stat``, in its human-readable form, as CSV (``-x,``) or as JSON (``-j``). Source: perf-stat(1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from evidence.measures.counting import CountColumn, CountTable

HEAD = re.compile(r"^ ?Performance counter stats for (?P<command>.{0,200}?)(?: \(\d+ runs\))?:?[ \t]*$", re.MULTILINE)
NUMBER = r"\d[\d.,'\u2019\u00a0\u202f]*"  # in the locale of the machine that ran it
LINE = re.compile(
    rf"[ \t]*(?P<value>{NUMBER}|<not (?:supported|counted)>)[ \t]+(?:\+-[ \t]+[\d.,]+[ \t]+)?"
    r"(?:(?P<unit>msec|nsec|seconds|Joules|MiB|KiB|C|MB|GB)[ \t]+)?"
    r"(?P<event>[^#\n]+?)[ \t]*(?:#.*?)?(?:\([ \t]*\+-[ \t]*(?P<spread>[\d.,]+)%[ \t]*\))?(?:[ \t]*\([\d.,]+%\))?[ \t]*"
)
PLAIN = re.compile(r"\d{1,20}(?:\.\d{1,20})?")
GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# value, unit, event, [variance,] time counted, share of it; fields of other counters may precede them.
CSV = re.compile(
    r"^(?:(?:CPU|S|N|D)\S*[,;])?(?P<value>\d+(?:\.\d+)?|<not (?:supported|counted)>)(?P<mark>[,;])"
    r"(?P<unit>\w*)(?P=mark)(?P<event>[a-zA-Z][^,;\n]*)(?P=mark)(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
# The variation between several runs, how many nanoseconds it counted, and for which share of the time.
COUNTED_FOR = re.compile(r"(?:[\d.]+%[,;])?\d+[,;]\d{1,3}\.\d\d(?:[,;]|$)")
SECONDS = {"msec": 1e-3, "nsec": 1e-9, "seconds": 1.0, "ns": 1e-9}
ENDS = {"time elapsed": "elapsed", "user": "user", "sys": "sys"}
COLUMNS = [CountColumn("value", adds=False), CountColumn("spread", "%", adds=False)]
MOST_CSV = 0.7


def looks_like(text: str) -> bool:
    """Return whether there is a heading of counters, or lines of them as CSV or JSON."""
    if HEAD.search(text):
        return True
    lines = [line for line in text.split("\n")[:200] if line.strip() and not line.startswith("#")]
    if lines and lines[0].startswith("{"):
        return '"counter-value"' in lines[0] and '"event"' in lines[0]
    return len(lines) > 1 and sum(bool(_csv(line)) for line in lines) >= MOST_CSV * len(lines)


def read(text: str) -> list[CountTable]:
    """Read each report; events that were not counted are left out."""
    heads = list(HEAD.finditer(text))
    if not heads:
        rows = list(_of_json(text) if text.lstrip().startswith("{") else _of_csv(text))
        return [CountTable("perf stat", "event", COLUMNS, _once(rows), apart=True)]
    ends = [*(found.start() for found in heads[1:]), len(text)]
    return [
        CountTable(
            "perf stat",
            "event",
            COLUMNS,
            _once(list(_rows(text[found.end() : end]))),
            found["command"].strip("' "),
            True,
        )
        for found, end in zip(heads, ends, strict=True)
    ]


def _rows(text: str) -> Iterator[tuple[str, list[float | None]]]:
    lines = [found for line in text.split("\n") if (found := LINE.fullmatch(line[:400]))]
    counted = [found for found in lines if not found["value"].startswith("<")]
    mark = "," if any(_has_decimal_comma(found["value"]) for found in counted) else "."
    for found in counted:
        value, spread = (_number(found[part], mark) for part in ("value", "spread"))
        if value is not None:
            event = found["event"].strip()
            # `0.001135 +- 0.000570 seconds time elapsed`
            yield _row(value, found["unit"] or "", ENDS.get(event, event), spread)


def _has_decimal_comma(said: str) -> bool:
    """Return whether commas are decimal; the elapsed time, which every report has, decides."""
    return "," in said and not GROUPED.fullmatch(said)


def _number(said: str | None, mark: str) -> str | None:
    """Return a number with a decimal point and no thousands separators; None for anything else."""
    parts = [re.sub(r"\D", "", part) for part in (said or "").split(mark)]
    plain = ".".join(parts)
    return plain if PLAIN.fullmatch(plain) else None


def _csv(line: str) -> re.Match[str] | None:
    found = CSV.match(line)
    return found if found and COUNTED_FOR.match(found["rest"]) else None


def _of_csv(text: str) -> Iterator[tuple[str, list[float | None]]]:
    for line in text.split("\n"):
        found = _csv(line)
        if found and not found["value"].startswith("<"):
            spread = re.match(r"([\d.]+)%", found["rest"])
            yield _row(found["value"], found["unit"], found["event"], spread[1] if spread else None)


def _of_json(text: str) -> Iterator[tuple[str, list[float | None]]]:
    for line in text.split("\n"):
        try:
            one = json.loads(line)
            value, unit, event = str(one["counter-value"]), str(one.get("unit", "")), str(one["event"])
        except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
            continue
        if re.fullmatch(r"\d{1,20}(\.\d{1,20})?", value):
            yield _row(value, unit, event, None)


def _row(value: str, unit: str, event: str, spread: str | None) -> tuple[str, list[float | None]]:
    number = float(value)
    if unit in SECONDS:
        number, unit = float(f"{number * SECONDS[unit]:.12g}"), "s"
    name = f"{event[:200]} ({unit})" if unit else event[:200]
    return name, [number, float(spread) if spread and len(spread) < 12 and spread.count(".") < 2 else None]


def _once(rows: list[tuple[str, list[float | None]]]) -> list[tuple[str, list[float | None]]]:
    """Add up events that are printed several times, per processor or interval."""
    found: dict[str, list[float | None]] = {}
    for name, numbers in rows:
        known = found.get(name)
        found[name] = [(known[0] or 0) + (numbers[0] or 0), None] if known else numbers
    return list(found.items())
