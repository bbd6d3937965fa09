"""Only what is listed here goes by a host's own clock; whatever else compares moments uses the database's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from config import env

PACKAGES: Final = ("audit", "config", "evidence", "incidents", "insights", "integrations", "reviews", "workflows")
ELSEWHERE: Final = {"tests", "fake", "sandbox", "standin", "migrations", "management"}
READS: Final = {"timezone.now", "datetime.now", "time.time", "timezone.localdate", "date.today"}
SHARED: Final = {"clock.at"}
ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
LOOKUPS: Final = ("__lt", "__lte", "__gt", "__gte", "__range")
NO_CLOCK: Final = (
    "evidence.formats.",
    "evidence.tree.",
    "evidence.analysis.",
    "evidence.measures.",
    "insights.figures.",
)
# Why each function may compare a moment of the host's clock; a name without a function stands for its whole module.
ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    "positions in a file or message, and names, which are called `at` too": (
        "integrations.api.wire",
        "integrations.profilers.protobuf",
        "insights.trying.past._moments",
        "workflows.planning.wording.posts._named",
    ),
    "one process measures its own time, or sets the two clocks against each other": (
        "config.doctor.clocks._clocks",
        "config.process.own_loop.OwnLoop._run",
        "incidents.claiming.recent.Pause.lasts",
        "incidents.claiming.shared_clock",
        "integrations.slack.doors.socket_mode.TimedClient._oldest_s",
    ),
    "files of this host, by the times that its file system gave them": (
        "evidence.intake.made._tidy",
        "evidence.intake.storage",
        "integrations.metrics.counting._is_old",
    ),
    "the vendor's clock is on the other side, and the difference is allowed for": (
        "integrations.pagerduty.adapter.lookup._without_key",
        "integrations.pagerduty.adapter.open_page._found",
        "integrations.profilers.answers.window",
        "integrations.slack.doors.signing",
        "integrations.trackers.adapter.wire.seconds_until",
        "integrations.trackers.checking._project",
        "integrations.trackers.protocol.webhooks.about",
        "integrations.vendor_clock.ahead_s",
    ),
    "the moment is given by a vendor's news, or by the shared clock already": (
        "audit.sealed",
        "incidents.claiming.recent",
        "incidents.drills.pacing.due",
        "workflows.effects.late_requests",
        "workflows.oncall.page_reach.follow",
        "workflows.oncall.pager_events.latest",
        "workflows.paging.note_found._is_newer",
        "workflows.status.workers._gone_since",
        "workflows.reconcile.weekly._is_lately",
        "workflows.usergroups",
    ),
    "shown to people, or found for them, and nothing follows": (
        "incidents.lifecycle.misses.lately",
        "incidents.live.closings.closings",
        "incidents.models.incident.Incident",
        "incidents.numbered._moment",
        "incidents.reading.timeline_filters._moment",
        "incidents.search.search_pages._after",
        "incidents.templatetags.firekind",
        "incidents.timeline.latest",
        "incidents.views.declare.declare",
        "incidents.views.lists.list_rows.rows",
        "insights.trying.trying.over",
        "workflows.alerts.declare_rules._recent",
        "workflows.oncall.freshness",
        "workflows.status.progress",
        "workflows.status.retyped.of",
        "workflows.templatetags.plans.left",
        "workflows.views.oncall",
    ),
    "days, months or years: a clock that is an hour off makes no difference": (
        "incidents.lifecycle.to_do.followups.due",
        "reviews.editing.plan_meeting",
        "workflows.channels.archived_rooms.asked_for",
        "workflows.channels.membership._rows",
        "workflows.channels.membership._older",
        "workflows.channels.room_looks._busy",
        "workflows.tickets.looks._read",
    ),
    "who is on call at a moment, by the pager's shifts; looks are bounded both ways": (
        "workflows.oncall.lookup",
        "workflows.oncall.pager_cache",
        "workflows.oncall.refresh",
        "workflows.oncall.roster",
        "workflows.oncall.rota",
        "workflows.oncall.turn_rows",
    ),
    "a form that was sent twice, next to the number or the moment that its page showed": (
        "incidents.lifecycle.declaring._sent_before",
        "incidents.lifecycle.entries._sent_before",
    ),
    "a margin on both sides of the moment": ("workflows.channels.membership._follow",),
    "a pause begins and ends with entries of the timeline, which are by the host's clock": (
        "incidents.lifecycle.ending._resume_replay",
    ),
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((env.ROOT / package).rglob("*.py")):
            inside = path.relative_to(env.ROOT)
            if not ELSEWHERE & set(inside.parts):
                yield ".".join(inside.with_suffix("").parts), ast.parse(path.read_text())


def functions(tree: ast.AST, name: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield each outermost function and method with its name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{name}{node.name}.")


def called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def reads_own(node: ast.AST, own: frozenset[str]) -> bool:
    """Return whether an expression uses a host's clock, and not only to ask for the shared one."""
    if called(node) in SHARED or (isinstance(node, ast.keyword) and node.arg == "at"):
        return False  # a moment that is passed on is judged where it is compared
    if called(node) in READS or (isinstance(node, ast.Name) and node.id in own):
        return True
    return any(reads_own(child, own) for child in ast.iter_child_nodes(node))


def own_names(function: ast.AST) -> frozenset[str]:
    """Return the names in a function that hold a moment of the host's clock: ``at``, and what is read there."""
    own, shared = {"at"}, set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=True))
                for name, value in pairs:
                    if isinstance(name, ast.Name) and called(value) in SHARED:
                        shared.add(name.id)
                    elif isinstance(name, ast.Name) and called(value) in READS:
                        own.add(name.id)
    return frozenset(own - shared)


def compares(function: ast.AST) -> bool:
    """Return whether a function compares a moment of the host's clock with another, in Python or in a query."""
    own = own_names(function)
    return any(reads_own(one, own) for one in comparisons(function))


def comparisons(function: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        is_order = isinstance(node, ast.Compare) and any(isinstance(one, ORDERS) for one in node.ops)
        is_difference = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        if isinstance(node, ast.keyword) and (node.arg or "").endswith(LOOKUPS):
            yield node.value
        elif is_order or is_difference:
            yield node


def found_in(source: str) -> set[str]:
    return {name for name, function in functions(ast.parse(source)) if compares(function)}


def test_every_other_comparison_is_of_the_shared_clock() -> None:
    allowed = [name for names in ALLOWED.values() for name in names]
    found = [f"{module}.{name}" for module, tree in modules() for name, one in functions(tree) if compares(one)]
    kept = [one for one in found if not one.startswith(NO_CLOCK)]
    assert [one for one in kept if not any(f"{one}.".startswith(f"{name}.") for name in allowed)] == []
    assert [name for name in allowed if not any(f"{one}.".startswith(f"{name}.") for one in kept)] == []


@pytest.mark.parametrize(
    ("compared", "is_own"),
    [
        ("return Row.objects.filter(due_at__lte=at)", True),
        ("return Row.objects.filter(due_at__lte=clock.at(at))", False),
        ("now = timezone.now()\n    return row.at < now - DAY", True),
        ("now = clock.at(timezone.now())\n    return row.at < now - DAY", False),
        ("now, key = clock.at(at), 1\n    cursor.execute(SQL, [now - KEPT])", False),
        ("cursor.execute(SQL, [at - KEPT])", True),
        ("return verb(at=timezone.now())", False),
    ],
)
def test_a_comparison_of_a_host_is_found(compared: str, is_own: bool) -> None:
    assert found_in(f"def look(at):\n    {compared}\n") == ({"look"} if is_own else set())
