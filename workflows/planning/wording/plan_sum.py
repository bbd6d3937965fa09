"""A plan in one line: how many are paged, get in and lose access, where it posts, and how much else. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from workflows.planning.actions import CREATE, Action
from workflows.planning.plan_lines import PlanLine

NOTHING: Final = "Nothing changes for anyone"
OTHER: Final = "other"
# What lines of a sign and a key add up to; all else that changes is counted together.
PARTS: Final = {
    ("+", "page"): "page",
    ("-", "page"): "over",
    ("+", "invite"): "in",
    ("+", "sees"): "in",
    ("-", "loses"): "out",
    ("+", "people"): "people",
    ("+", "channel"): "channel",
    ("~", "channel"): "channel",
    ("+", "outlet"): "channel",
    ("+", "post"): "post",
    ("+", "capture"): "capture",
}
# How each part reads, of one and of several, in order.
SAID: Final = (
    ("page", "sends {} page", "sends {} pages"),
    ("over", "resolves {} page", "resolves {} pages"),
    ("in", "{} gets in", "{} get in"),
    ("out", "{} loses access", "{} lose access"),
    ("people", "brings people in", "brings people in"),
    ("channel", "opens {} channel", "opens {} channels"),
    ("post", "posts in {} channel", "posts in {} channels"),
    ("capture", "captures {} profile", "captures {} profiles"),
    (OTHER, "{} other change", "{} other changes"),
)


def in_short(lines: Iterable[PlanLine], actions: Iterable[Action]) -> str:
    """Add up what changes: *Sends 1 page · 6 get in · 5 lose access · posts in 2 channels*."""
    found: Counter[str] = Counter()
    for line in lines:
        if line.sign in "+~-":
            found[PARTS.get((line.sign, line.key.partition("/")[0]), OTHER)] += line.count
    if found["post"]:
        found["post"] = len({_place(one) for one in actions if one.kind == "post" and one.verb == CREATE})
    said = " · ".join(
        (one if found[part] == 1 else many).format(found[part]) for part, one, many in SAID if found[part]
    )
    return said[:1].upper() + said[1:] or NOTHING


def _place(action: Action) -> str:
    """Return which channel a message goes to: a room of the incident, one by name, or that of the summary."""
    spec = action.spec
    return str(spec.get("room") or spec.get("channel") or spec.get("in"))
