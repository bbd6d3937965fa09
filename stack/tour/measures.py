"""What must be true of evidence: it is accurate, can be viewed in every way, and by no outsider."""

from __future__ import annotations

import json
from collections.abc import Mapping

from stack.outside import Records, Visitor
from stack.tour.checks import Checks

POINTS = 0.03  # between what the sampled profile says and what the service itself measured
# Every page, picture, answer and download of a profile, below its own URL.
OF_A_PROFILE = (
    "", "boxes.json", "search.json?q=a", "function.json?code=0", "functions/", "original", "folded", "pprof", "svg",
    "png", "speedscope/", "speedscope/app",
)  # fmt: skip
# And of an incident's evidence and findings.
OF_AN_INCIDENT = (
    "evidence/", "evidence/commands", "evidence/compare/?control=1&with=1",
    "evidence/compare.json?control=1&with=1", "evidence/compare-search.json?control=1&with=1&q=a", "findings/",
)  # fmt: skip


def captured(checks: Checks, records: Records, codename: str, *, truth: Mapping[str, float], n: int = 1) -> None:
    """Check that evidence `n` was captured automatically and names where the service spends most of its time."""
    row = next(one for one in records.evidence(codename) if one["n"] == n)
    checks.so(f"profile {n} was captured and read", (row["kind"], row["state"]) == ("profile", "ready"), instead=row)
    told = [event["data"]["n"] for event in records.events(codename) if event["kind"] == "evidence"]
    checks.so("it is on the timeline, once", told.count(n) == 1, instead=told)
    hot = {one["name"]: one["share"] for one in row["hot"]}
    off = {name: abs(hot.get(name, 0) - share) for name, share in truth.items() if share > 0.1}
    most = max(truth, key=lambda name: truth[name])
    checks.so(f"what it says of {most} and {len(off) - 1} more is within 3 points of the truth",
              off and max(off.values()) <= POINTS, instead=(hot, truth))  # fmt: skip


def seen_by(checks: Checks, visitor: Visitor, codename: str, *, who: str) -> None:
    """Check that someone can view evidence 1 in every way."""
    below = f"/incidents/{codename}/evidence/1/"
    wrong = {path: page.status for path in OF_A_PROFILE if (page := visitor.get(below + path)).status != 200}
    checks.so(f"{who} can look at the profile in {len(OF_A_PROFILE)} ways", not wrong, instead=wrong)
    table = visitor.get(f"{below}functions/").text
    checks.so("its table names the function, without scripts", "checkout." in table)


def searched(checks: Checks, visitor: Visitor, codename: str, n: int, *, text: str, share: float) -> None:
    """Check that a search gives exactly that share."""
    found = json.loads(visitor.get(f"/incidents/{codename}/evidence/{n}/search.json?q={text}").source)
    checks.so(f"a search for {text} gives exactly {share:.0%} of profile {n}", found["share"] == share, instead=found)


def hidden_from(checks: Checks, visitor: Visitor, codename: str, *, who: str, n: int = 1) -> None:
    """Check that for someone no page, answer, picture or download of it exists."""
    below = f"/incidents/{codename}/"
    paths = [*OF_AN_INCIDENT, *(f"evidence/{n}/{path}" for path in OF_A_PROFILE)]
    open_ = {path: page.status for path in paths if (page := visitor.get(below + path)).status != 404}
    checks.so(f"{who} gets 404 for all {len(paths)} of its evidence and findings", not open_, instead=open_)
