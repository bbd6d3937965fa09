"""Say in one sentence where a profile's cost is, from exact totals, with its guards. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evidence.analysis import deltas, dominant, guards, layers, plumbing
from evidence.profile import amounts, fractions, sample_words
from evidence.profile.amounts import percent
from evidence.profile.stacks import SampleType
from evidence.tree import tree_boxes
from evidence.tree.calltree import CallTree

PARTS, PART = 2, 0.1  # how many functions a function's cost is split into; the least share of it worth saying
NAMELESS = re.compile(r"^(\[?unknown\]?|\[[\w./+-]+\]|0x[0-9a-f]+)$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The sentence of a sample type: ``text`` for people, and the function it is about with its shares."""

    text: str
    function: str = ""
    share: float = 0.0
    self_share: float = 0.0
    caller: str = ""
    guards: tuple[str, ...] = ()


def of(tree: CallTree, *, type: int | None = None, subject: str = "") -> Sentence:
    """Say where the cost is; ``subject`` is text (a title, a service) that may name the process that matters."""
    type = tree.default_type if type is None else type
    total = tree.total(type)
    kind = tree.sample_types[type]
    warned = tuple(guards.of(tree, type, subject=subject))
    if delta := deltas.of(tree, type):
        return _changed(tree, delta, warned)
    if not total:
        return Sentence(f"It's empty: no {sample_words.of(kind)} at all.", guards=warned)
    code = dominant.of(tree, type)
    if code is None:
        return Sentence(_flat(tree, type), guards=warned)
    share, own = tree.function_totals[type, code] / total, tree.self_[type, code] / total
    caller = dominant.caller_of(tree, type, code)
    say = _shares(tree, type)
    text = f"{amounts.first(say(share))} of {sample_words.of(kind)} {_pass(tree, type)} `{tree.names[code]}`"
    text += f" (self {say(own)})"
    text += f", called from `{caller}`" if caller else ""
    text += _below(tree, type, code) or _split(tree, type, code)
    return Sentence(f"{text}.", tree.names[code], float(share), float(own), caller, warned)


def _shares(tree: CallTree, type: int) -> Callable[[float], str]:
    """Return how to format a share: in whole per cent if there are few samples, as tables do."""
    return amounts.rough if guards.is_rough(tree, type) else percent


def _flat(tree: CallTree, type: int) -> str:
    """Say that nothing stands out among functions that are neither idle nor on nearly every stack."""
    total = tree.total(type)
    large = np.flatnonzero(tree.function_totals[type] >= dominant.WORTH * total).tolist()
    idle = any(dominant.is_idle(tree, code) for code in large)
    common = any(tree.function_totals[type, code] >= dominant.NEARLY_ALL * total for code in large)
    apart = [word for word, is_so in (("what nearly everything passes", common), ("what is idle", idle)) if is_so]
    but = f"apart from {' and '.join(apart)}, " if apart else ""
    none = f"none has {percent(dominant.WORTH)} of {sample_words.of(tree.sample_types[type])}"
    return f"No single function stands out: {but}{none}."


def _changed(tree: CallTree, delta: deltas.Delta, warned: tuple[str, ...]) -> Sentence:
    """For a profile that is a difference, say how much the whole changed and where."""
    passed = frozenset(code for code in range(len(tree.names)) if plumbing.is_plumbing(tree, code))
    what = sample_words.of(SampleType(delta.name, delta.unit))
    change = deltas.net(tree, delta)
    sides = [amounts.amount(tree.total(side), delta.unit) for side in (delta.grew, delta.shrank)]
    text = f"A difference: {what} {deltas.signed(change, delta.unit)} net ({sides[0]} grew, {sides[1]} shrank)"
    found = {sign: deltas.most(tree, delta, sign=sign, leave_out=passed) for sign in (1, -1)}
    for sign, verb in ((-1, "shrank"), (1, "grew")) if change < 0 else ((1, "grew"), (-1, "shrank")):
        if one := found[sign]:
            text += f"; most {verb} in `{one[0]}` ({deltas.signed(one[1], delta.unit)})"
    first = found[-1 if change < 0 else 1] or found[1] or found[-1]
    return Sentence(f"{text}.", first[0] if first else "", guards=warned)


def _below(tree: CallTree, type: int, code: int) -> str:
    """Say in which plumbing most of a function's cost ends: one function of it, or the kernel as a whole."""
    total, whole, say = int(tree.function_totals[type, code]), tree.total(type), _shares(tree, type)
    if tree.self_[type, code] >= dominant.NARROWS * total:
        return ""
    half = tree.callees(code)
    place = int(np.argmax(half.self_[type]))
    value = int(half.self_[type, place])
    if place != code and value >= dominant.NARROWS * total:
        return f"; {say(value / whole)} end in `{tree.names[place]}`"
    kernel = {n for at, n in enumerate(tree.names) if layers.is_kernel(n, tree.hints[at])}
    inside = half.search(kernel.__contains__, type=type).total if kernel else 0
    return f"; {say(inside / whole)} in the kernel" if inside >= dominant.NARROWS * total else ""


def _split(tree: CallTree, type: int, code: int) -> str:
    """Say what a function with little self time calls most: its two largest callees, if each matters."""
    total, whole, say = int(tree.function_totals[type, code]), tree.total(type), _shares(tree, type)
    if tree.self_[type, code] >= dominant.NARROWS * total:
        return ""
    inside, _ = tree_boxes.children(tree.first, tree.nodes_of(code).astype(np.int32))
    known, place = np.unique(tree.name[inside], return_inverse=True)
    sums = np.zeros(len(known), dtype=np.int64)
    np.add.at(sums, place, tree.totals[type, inside].astype(np.int64))
    most = [(int(known[at]), int(sums[at])) for at in np.argsort(-sums, kind="stable") if sums[at] >= PART * total]
    named = [(callee, value) for callee, value in most if callee != code and not NAMELESS.match(tree.names[callee])]
    said = [f"{say(value / whole)} in `{tree.names[callee]}`" for callee, value in named[:PARTS]]
    return f"; below it, {' and '.join(said)}" if said else ""


def _pass(tree: CallTree, type: int) -> str:
    is_time = fractions.whole(tree.sample_types[type].unit)[1] == "nanoseconds"
    if guards.is_of_holders(tree, type):
        return f"{'is' if is_time else 'are'} for locks held in"
    return "is spent in" if is_time else "pass through"


def plain(sentence: Sentence) -> dict[str, str | float | Sequence[str]]:
    """Return a sentence as plain values, for storage."""
    return {
        "text": sentence.text,
        "function": sentence.function,
        "share": sentence.share,
        "self_share": sentence.self_share,
        "caller": sentence.caller,
        "guards": list(sentence.guards),
    }
