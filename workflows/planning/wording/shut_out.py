"""Who loses access when an incident becomes private, and what they own of the response. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workflows.planning import participation
from workflows.planning.facts import Facts
from workflows.planning.invitee import Invitee
from workflows.planning.plan_lines import PlanLine

LOSES: Final = "loses"  # the key of the line that names them


def losing(before: Facts, after: Facts) -> tuple[Invitee, ...]:
    """Return those who take part or own something to do and may not see it afterwards, by name."""
    if before.private or not after.private:
        return ()
    staying = {pk for pk, one in participation.of(after).standings.items() if one.wanted}
    inside = {stay.who.person_id: stay.who for stay in before.stays if stay.here}
    inside |= {one.person_id: one for one, _ in _owned(before)}
    return tuple(sorted((one for pk, one in inside.items() if pk not in staying), key=lambda one: one.name))


def lines(before: Facts, after: Facts) -> Iterator[PlanLine]:
    """Warn of each owner who loses access, then name everyone who does."""
    found = losing(before, after)
    for who in found:
        if owned := [what for one, what in _owned(before) if one.person_id == who.person_id]:
            yield PlanLine("!", f"{who.name} owns {_listed(owned)} loses access.", f"owner/{who.person_id}")
    if found:
        names = ", ".join(one.name for one in found)
        yield PlanLine("-", f"end access for {names}", LOSES, len(found))


def _owned(facts: Facts) -> Iterator[tuple[Invitee, str]]:
    """Yield who owns the next step and each open task or follow-up, and what that is."""
    if facts.next_step is not None and facts.next_step.owner is not None:
        yield facts.next_step.owner, "the next step"
    for task in (one.task for one in facts.told if one.task is not None):
        if task.owner is not None and task.state == "open":
            yield task.owner, f"{task.word} {task.n}"


def _listed(owned: list[str]) -> str:
    """List what someone owns, up to the verb: *the next step and*, *the next step and task 2, and*."""
    *rest, last = owned
    return f"{', '.join(rest)} and {last}, and" if rest else f"{last} and"
