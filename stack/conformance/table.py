"""The table: format, judge, files, how many are equal, equal except for names, different, rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from evidence import formats
from evidence.profile.errors import Unreadable
from evidence.tree import calltree
from stack.conformance import judges
from stack.conformance.judges import Counts, Judged
from stack.errors import StackError

EQUAL, BUT_NAMES, UNLIKE, REFUSED = "equal", "equal but for names", "unlike", "refused"
OUTCOMES = (EQUAL, BUT_NAMES, UNLIKE, REFUSED)


def main(*names: str, say: Callable[[str], None] = print) -> int:
    """Print the table for all formats, or for those named; return 1 if something differs or is rejected."""
    if unknown := set(names) - set(formats.FORMATS):
        raise StackError(f"No such format: {', '.join(sorted(unknown))}. There are {', '.join(formats.FORMATS)}.")
    say(f"{'format':<14} {'judge':<16} {'files':>5}  " + "  ".join(OUTCOMES))
    wrong = 0
    for name in names or tuple(formats.FORMATS):
        rows: dict[str, Counter[str]] = {}
        for one in judges.judged(name):
            rows.setdefault(one.judge, Counter())[compared(one)] += 1
        for judge, found in rows.items():
            cells = "  ".join(f"{found[outcome]:>{len(outcome)}}" for outcome in OUTCOMES)
            say(f"{name:<14} {judge:<16} {sum(found.values()):>5}  {cells}")
            wrong += found[UNLIKE] + found[REFUSED]
        if not rows:
            say(f"{name:<14} has no files in {judges.HOME.name}/{name}")
            wrong += 1
    return int(wrong > 0)


def compared(one: Judged) -> str:
    """Read a file and say how the result compares with the judge's."""
    try:
        read = _counts(one)
    except Unreadable:
        return REFUSED
    if read == dict(one.counts):
        return EQUAL
    return BUT_NAMES if Counter(read.values()) == Counter(one.counts.values()) else UNLIKE


def _counts(one: Judged) -> Counts:
    """Return what each function counts, in the judge's sample type."""
    tree = calltree.build(formats.read_file(one.path))
    types = [kind.name for kind in tree.sample_types]
    if one.sample_type not in types:
        return {}
    type = types.index(one.sample_type)
    own, total = tree.self_[type].tolist(), tree.function_totals[type].tolist()
    return {
        name: pair for name, *pair_ in zip(tree.names, own, total, strict=True) if any(pair := (pair_[0], pair_[1]))
    }
