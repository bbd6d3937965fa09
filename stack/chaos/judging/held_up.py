"""What must hold of an outage: what another vendor was asked for meanwhile was not held up by it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Final

from stack.chaos.judging.aftermath import Aftermath
from stack.chaos.outages import Outage

FEW: Final = 5  # so many say nothing yet
LONGEST_S: Final = 60.0  # half are done sooner: all else breaks as well meanwhile, and clocks step by a minute
MARGIN_S: Final = 10.0  # before the end, when what the outage held up is not yet over
AT: Final = {"channel": "slack", "page": "pager"}  # where each kind of effect is carried out

Broken = Iterator[tuple[str, ...]]


def waited(found: Aftermath, outage: Outage) -> list[float]:
    """List the seconds that each effect waited that was asked for during an outage, of another vendor."""
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
