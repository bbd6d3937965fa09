"""Answers about a profile, as plain values: exact totals, every function, search results, what moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evidence.analysis import deltas, sentence
from evidence.profile import fractions
from evidence.reader import reading
from evidence.tree.calltree import CallTree

if TYPE_CHECKING:
    from evidence.analysis import compare


class NotAsked(ValueError):
    """The question does not fit the profile; the message says why."""


def type_of(tree: CallTree, wanted: str) -> int:
    """Return the index of a sample type given by name, or by ``name/unit``; by default, the profile's default.

    Raises ``NotAsked`` for any other name.
    """
    if not wanted:
        return tree.default_type
    for type, kind in enumerate(tree.sample_types):
        if wanted in {kind.name, f"{kind.name}/{kind.unit}"}:
            return type
    has = ", ".join(kind.name for kind in tree.sample_types)
    raise NotAsked(f"It has no sample type {wanted!r}. It has: {has}.")


def profile(tree: CallTree, *, type: int, samples: int) -> dict[str, Any]:
    """Return a profile's metadata and sentence, with every function that some sample passes through."""
    summary = reading.summary_of(tree, samples=samples, functions=0)
    kind = tree.sample_types[type]
    said = sentence.of(tree, type=type)
    return {
        **{key: summary[key] for key in ("format", "samples", "sample_types")},
        "sample_type": {"name": kind.name, "unit": kind.unit},
        "total": tree.total(type),
        "sentence": said.text,
        "guards": list(said.guards),
        "functions": _functions(tree, type),
        "skipped": summary["skipped"],
        "about": summary["about"],
        **_delta(tree, type),
    }


def _delta(tree: CallTree, type: int) -> dict[str, Any]:
    """If the profile is a difference, return the changes in total and by function, largest first."""
    found = deltas.of(tree, type)
    if found is None:
        return {}
    changed = dict(zip(tree.names, deltas.functions(tree, found).tolist(), strict=True))
    order = sorted((name for name, net in changed.items() if net), key=lambda name: (-abs(changed[name]), name))
    sides = {"grown": tree.total(found.grew), "shrunk": tree.total(found.shrank)}
    functions = [{"name": name, "net": changed[name]} for name in order]
    return {"delta": {"name": found.name, "net": deltas.net(tree, found), **sides, "functions": functions}}


def _functions(tree: CallTree, type: int) -> list[dict[str, Any]]:
    """Return the functions that some sample passes through, except those that only count in another sample type."""
    seen = {tree.names[code] for code in np.flatnonzero(np.bincount(tree.name[1:])).tolist()}
    elsewhere = {name for name, most in zip(tree.names, tree.function_totals.max(axis=0).tolist(), strict=True) if most}
    every = reading.top(tree, type=type, functions=None)
    return [one for one in every if one["name"] in seen and (one["total"] or one["name"] not in elsewhere)]


def matched(tree: CallTree, *, type: int, pattern: str) -> dict[str, Any]:
    """Return how much passes through functions whose name matches a regular expression, each sample once.

    Case matters, as in grep. Raises ``NotAsked``.
    """
    from evidence.profile import searching

    try:
        found = tree.search(searching.regular(pattern, any_case=False), type=type)
    except searching.BadPattern as error:
        raise NotAsked(str(error)) from error
    names = [tree.names[code] for code in found.codes.tolist()]
    return {"pattern": pattern, "total": found.total, "percent": 100 * found.share, "functions": names}


def difference(before: CallTree, after: CallTree, *, type: int) -> dict[str, Any]:
    """Return the functions whose share of the total changed between two profiles. Raises ``NotAsked``."""
    from evidence.analysis import compare, guards, pair_guards
    from evidence.analysis.scales import ComparisonScale

    try:
        places = compare.same_type([before, after], _called(before, type))
    except compare.NotComparable as error:
        raise NotAsked(str(error)) from error
    merged = compare.merge([before, after], types=places, labels=["before", "after"])
    is_rough = any(guards.is_rough(tree, place) for tree, place in zip((before, after), places, strict=True))
    warned = [[*guards.of(tree, place)] for tree, place in zip((before, after), places, strict=True)]
    return {
        "unit": merged.sample_types[0].unit,
        "before": {"total": merged.total(0)},
        "after": {"total": merged.total(1)},
        "sentence": compare.says(merged, scale=ComparisonScale(is_rough=is_rough)),
        "guards": [*pair_guards.totals(merged), *pair_guards.of_sides(*warned)],
        "moved": [_moved(one) for one in compare.moved(merged)],
    }


def _called(tree: CallTree, type: int) -> str:
    """Return how to ask for a sample type; its name alone may be ambiguous."""
    kind = tree.sample_types[type]
    return f"{kind.name}/{fractions.whole(kind.unit)[1]}"


def _moved(one: compare.Moved) -> dict[str, Any]:
    sides = {
        side: {"self": one.self_[at], "total": one.total[at], "percent": 100 * one.share[at]}
        for at, side in enumerate(("before", "after"))
    }
    return {"name": one.name, **sides, "points": one.points}
