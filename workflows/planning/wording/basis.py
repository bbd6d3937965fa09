"""What a plan was computed from, so that a changed plan can say what changed. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from workflows.planning.facts import Facts
from workflows.planning.invitee import Invitee

Basis = tuple[tuple[str, str], ...]  # a sentence that holds once its part has changed, and the fingerprint of that part


def of(before: Facts, after: Facts, *, alerts: int, choice: object = ()) -> Basis:
    """Return the inputs of a retype's plan other than what the timeline says."""
    return tuple((says, _print(value)) for says, value in _parts(before, after, alerts, choice))


def kept(basis: Basis) -> str:
    """Encode a basis for a form without its words: people's names do not belong in a form field."""
    return " ".join(f"{_print(says)}-{value}" for says, value in basis)


def changed(was: str, basis: Basis) -> list[str]:
    """Say what has changed since the form was shown: *The group @security changed.*

    A part that the form did not know came with something else that changed, and is not reported itself.
    """
    known = dict(one.split("-", 1) for one in was.split() if "-" in one)
    return [says for says, value in basis if known.get(_print(says), value) != value]


def _parts(before: Facts, after: Facts, alerts: int, choice: object) -> Iterator[tuple[str, object]]:
    yield "Your choice of who comes along changed.", choice
    yield "The type you chose was edited.", after.policy
    for handle, members in sorted(after.groups.items()):
        yield f"The group @{handle} changed.", _ids(members)
    for name, turn in sorted(after.on_call.items()):
        yield f"Who is on call in the schedule {name} changed.", _ids(turn)
    for name, callee in sorted(after.callees.items()):
        yield f"Who is paged by {name} changed.", callee
    yield "The people in this incident changed.", (sorted(before.inside), sorted(before.away))
    yield "The status of its pages changed.", [(one.key, one.status) for one in before.paged]
    yield "Its alerts changed.", alerts
    yield "Its channels, or who is in them, changed.", sorted(before.there)
    yield "The connected services changed.", (before.chat, before.pager, before.tracker, before.converts)


def _ids(people: Iterable[Invitee] | None) -> list[int] | None:
    return None if people is None else sorted(one.person_id for one in people)


def _print(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]
