"""A plan's lines as guests read them: without names, with the effects on people counted. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from workflows.planning.plan_lines import PlanLine

# The keys of lines that name no one; all others may.
NAMELESS: Final = frozenset(
    (
        *("channel", "outlet", "post", "small", "picture", "archived", "outside", "closed", "capture"),
        *("chat", "pager", "private", "ticket", "reminder", "refused"),
    )
)
PEOPLE: Final = PlanLine("+", "bring in or page the people the type names", "people")  # stands for all of them
# What replaces lines that change or end things with names, for one and for several; "=" and "!" lines are dropped.
COUNTED: Final = {
    ("-", "loses"): ("end access for {} person", "end access for {} people"),
    ("-", "page"): ("resolve {} page", "resolve {} pages"),
    ("~", "page"): ("change the title of {} page", "change the titles of {} pages"),
    ("~", "title"): ("change the title of {} resolved page", "change the titles of {} resolved pages"),
}


def lines(whole: Iterable[PlanLine]) -> Iterator[PlanLine]:
    """Yield a plan's lines without those that name people, followed by what replaces them."""
    named: Counter[tuple[str, str]] = Counter()
    for line in whole:
        if line.key in NAMELESS:
            yield line
        else:
            named[line.sign, line.key] += line.count
    if any(sign == "+" for sign, _ in named):
        yield PEOPLE
    for (sign, key), (one, many) in COUNTED.items():
        if count := named[sign, key]:
            yield PlanLine(sign, (one if count == 1 else many).format(count), key, count)
