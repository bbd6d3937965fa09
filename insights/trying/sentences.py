"""Say what edited types would have done differently: one sentence for each type. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from insights.trying.difference import TriedDifference
from insights.trying.play import Policies


def told(found: TriedDifference, policies: Policies, *, days: int) -> list[str]:
    """Return the difference in sentences: one for each type in order, then what would be missing."""
    said = [one for slug in policies if (one := _of_type(found, slug, policies[slug].name))]
    if not said:
        over = f"the {found.lives} incidents" if found.lives != 1 else "the one incident"
        return [f"Nothing would have gone differently in {over} of the last {days} days."]
    return [*said, *found.gaps.values()]


def _of_type(found: TriedDifference, slug: str, name: str) -> str:
    parts = [*_people(found, slug), *_counts(found, slug)]
    if not parts:
        return ""
    *before, last = parts
    return f"{name} would have {', '.join(before)}{' and ' if before else ''}{last}."


def _people(found: TriedDifference, slug: str) -> Iterator[str]:
    for way, names in _of(found.brought, slug):
        joined = _joined(len(names), len(found.joined.get((slug, way), ())))
        yield f"brought {way} into {_incidents(len(names))}{joined}"
    for way, names in _of(found.spared, slug):
        yield f"not brought {way} into {_incidents(len(names))}"


def _of(filed: Mapping[tuple[str, str], Collection[str]], slug: str) -> list[tuple[str, Collection[str]]]:
    return sorted((way, names) for (of, way), names in filed.items() if of == slug)


def _joined(incidents: int, joined: int) -> str:
    if not joined:
        return ""
    return " (which they joined by hand later)" if incidents == 1 else f" ({joined} of which they joined by hand later)"


def _counts(found: TriedDifference, slug: str) -> Iterator[str]:
    for (of, name), count in sorted(found.pages.items()):
        if of == slug and count:
            yield f"paged {name} {_times(count)}"
    for (of, label), count in sorted(found.captures.items()):
        if of == slug and count:
            yield f"taken {label} {_times(count)}"
    if count := found.private[slug]:
        yield f"{'made' if count > 0 else 'not made'} {_incidents(abs(count))} private"


def _times(count: int) -> str:
    return f"{abs(count)} {'time' if abs(count) == 1 else 'times'} {'more' if count > 0 else 'less'}"


def _incidents(count: int) -> str:
    return f"{count} incident" if count == 1 else f"{count} incidents"
