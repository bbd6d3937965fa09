"""A plan in one line: who is paged, how many come in and lose access, where it posts, and how much else. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from incidents import sentences
from workflows.planning.plan_lines import PlanLine
from workflows.planning.things import Spec

NOTHING: Final = "Nothing changes for anyone"
NO_ONE: Final = "Pages no one"
OTHER: Final = "other"
NAMED: Final = 3  # this many paged people are named; the rest are counted
# What lines with a sign and a key count as; all other changes are counted together.
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
    ("-", "capture"): "uncaptured",
}
# The words of each part, for one and for several, in order.
SAID: Final = (
    ("page", "sends {} page", "sends {} pages"),
    ("over", "resolves {} page", "resolves {} pages"),
    ("in", "brings in {} person", "brings in {} people"),
    ("more", "brings in {} more person", "brings in {} more people"),
    ("out", "{} loses access", "{} lose access"),
    ("people", "brings people in", "brings people in"),
    ("channel", "opens {} channel", "opens {} channels"),
    ("post", "posts in {} channel", "posts in {} channels"),
    ("capture", "captures {} profile", "captures {} profiles"),
    ("uncaptured", "cancels {} capture", "cancels {} captures"),
    (OTHER, "{} other change", "{} other changes"),
)
# What the first part adds if a page may reach no one, by the key of the line that warns of it.
DOUBTS: Final = {
    "maintenance": "in a maintenance window",
    "unheard": "without notifying anyone",
    "nobody": "with no one on call",
    "silent": "without notifying everyone",
}
REACH: Final = frozenset({"page", "over", "in", "more", "out", "people"})  # the parts about people


def in_short(lines: Iterable[PlanLine], posts: Iterable[Spec]) -> str:
    """Sum up what changes: *Pages Eve Ito · brings in 6 more people · 5 lose access · posts in 2 channels*.

    ``posts`` are the messages that are posted.
    """
    lines = list(lines)
    found = _counted(lines)
    if found["post"]:
        found["post"] = len({_place(one) for one in posts})
    return _said(found, lines) or NOTHING


def reach(lines: Iterable[PlanLine]) -> str:
    """Sum up what changes for people, next to the confirm button: *Pages no one · brings in 6 people*."""
    lines = list(lines)
    found = Counter({part: count for part, count in _counted(lines).items() if part in REACH})
    said = _said(found, lines)
    return said if found["page"] or found["people"] else " · ".join(filter(None, (NO_ONE, said[:1].lower() + said[1:])))


def _counted(lines: Sequence[PlanLine]) -> Counter[str]:
    """Count each part; if lines also name people who are already in, newcomers count as *more*."""
    found: Counter[str] = Counter()
    for line in lines:
        if line.sign in "+~-":
            found[PARTS.get((line.sign, line.key.partition("/")[0]), OTHER)] += line.count - line.inside
    if any(line.inside for line in lines):
        found["more"] = found.pop("in", 0)
    return found


def _said(found: Counter[str], lines: Sequence[PlanLine]) -> str:
    said = [(one if found[part] == 1 else many).format(found[part]) for part, one, many in SAID if found[part]]
    if found["page"]:
        said[0] = f"{_paged(lines) or said[0]}{_doubts(lines, pages=found['page'])}"
    return sentences.capital(" · ".join(said))


def _doubts(lines: Iterable[PlanLine], *, pages: int) -> str:
    """Say how many of the pages may reach no one, and why: *(1 of 2 in a maintenance window)*; empty if none."""
    found = Counter(line.key.partition("/")[0] for line in lines if line.sign == "!")
    some = [
        f"{'' if pages == found[key] else f'{found[key]} of {pages} '}{says}"
        for key, says in DOUBTS.items()
        if found[key]
    ]
    return f" ({'; '.join(some)})" if some else ""


def _paged(lines: Iterable[PlanLine]) -> str:
    """Say who is paged; empty if a page goes to no one who is known."""
    pages = [line.paged for line in lines if (line.sign, line.key.partition("/")[0]) == ("+", "page")]
    names = list(dict.fromkeys(name for some in pages for name in some))
    if not all(pages):
        return ""
    if len(names) > NAMED:
        return f"pages {len(names)} people"
    return f"pages {sentences.enumerated(names)}" if names else ""


def _place(spec: Spec) -> str:
    """Return the channel that a message goes to: a room of the incident, one by name, or the summary's."""
    return str(spec.get("room") or spec.get("channel") or spec.get("in"))
