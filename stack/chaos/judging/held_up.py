"""What must hold about an outage: it did not hold up requests to other vendors. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Final

from stack.chaos.judging.aftermath import Accepted, Aftermath, Row
from stack.chaos.outages import Outage

FEW: Final = 5  # this many prove nothing yet
LONGEST_S: Final = 60.0  # half are done sooner, because everything else breaks as well meanwhile
SECOND_S: Final = 1.0  # Slack's precision for when a channel was made; also, acts end after what they request has begun
MARGIN_S: Final = 10.0  # before the end, because what the outage held up may not be over yet
AT: Final = {"channel": "slack", "page": "pager"}  # where each kind of effect is performed

ASKS: Final = frozenset({"declare", "retype", "page", "reopen"})  # acts that may cause a channel or a page

Broken = Iterator[tuple[str, ...]]


def opened(
    accepted: Sequence[Accepted], *, rooms: Sequence[Row], workspace: Sequence[Row], pages: Sequence[Row],
    pager: Sequence[Row],
) -> list[Row]:  # fmt: skip
    """List channels and pages with when they were last requested and when they were opened.

    By the clocks of the actors and the stand-ins, because those of Firekind's own processes are shifted by minutes.
    """
    made = {one["id"]: float(one["created"]) for one in workspace}
    rung = {key: float(one["created_at"]) for one in pager for key in _keys(one)}
    known = [("channel", one["codename"], made.get(one["channel"])) for one in rooms]
    known += [("page", one["codename"], rung.get(one["dedup_key"])) for one in pages]
    asked = [(one.codename, one.ended_at) for one in accepted if one.act in ASKS]
    found: list[Row] = []
    for kind, codename, done_at in known:
        before = [at for name, at in asked if done_at is not None and name == codename and at <= done_at + SECOND_S]
        if before:
            found.append({"kind": kind, "asked_at": max(before), "done_at": done_at})
    return found


def _keys(incident: Row) -> set[str]:
    return {key for key in (incident["key"], *(one["key"] for one in incident.get("alerts", ()))) if key}


def waited(found: Aftermath, outage: Outage) -> list[float]:
    """List how many seconds each effect for another vendor waited that was requested during an outage."""
    return [
        one["done_at"] - one["asked_at"]
        for one in found.opened
        if AT[one["kind"]] != outage.vendor and outage.began_at <= one["asked_at"] <= outage.ended_at - MARGIN_S
    ]


def _an_outage_holds_up_its_vendor_alone(found: Aftermath) -> Broken:
    for outage in found.outages:
        seconds = waited(found, outage)
        if len(seconds) >= FEW and median(seconds) > LONGEST_S:
            says = f"half of {len(seconds)} that others were asked for took over {median(seconds):.0f} s"
            yield "", f"while {outage.vendor} was out, {says}"


LAWS: Final[dict[str, Callable[[Aftermath], Broken]]] = {
    "an outage holds up its vendor alone": _an_outage_holds_up_its_vendor_alone,
}
