"""The type that somebody named in front of a title: split off where it is certain, asked about where it is not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from incidents.models import IncidentType
from incidents.policies import current_types
from integrations.slack.interaction import incident_lookup, messages
from integrations.slack.protocol import mrkdwn

Typed = tuple[IncidentType | None, str, IncidentType | None]
TYPED: Final = re.compile(r"\s*([^:\uff1a\n<]{1,60}?)\s*[:\uff1a]\s*(\S.*)", re.DOTALL)
WORD: Final = re.compile(r"[^\W_]+")
BETWEEN: Final = re.compile(r"^[\s\W_]+?(?=[\w<&@#]|$)")
APART: Final = re.compile(r"[\W_]*(?:\s|$)")
ESCAPES: Final = {"&amp;": "&    ", "&lt;": "<   ", "&gt;": ">   "}  # in place of each as many characters
# What may stand before a type's name: *a possible security incident*.
BEFORE: Final = frozenset(
    ("a", "an", "the", "as", "new", "type", "possible", "potential", "suspected", "probable", "maybe")
)


def split(said: str) -> Typed:
    """Split ``security: someone has our keys`` into type and title; other colons are part of the title.

    The third is the type that is most likely meant where the first is none, as in ``securty: …``, of one that is
    archived by now, or of a private one that is named without a colon: it is asked about, since what was meant to be
    private must not be public by a slip.
    """
    bare = undressed(said)
    match = TYPED.fullmatch(bare)
    if match is not None:
        written = mrkdwn.unescape(match[1])
        if (named := incident_lookup.type_named(written)) is not None:
            return named, match[2], None
        joined = match.end(1) + 1 == match.start(2)  # as in a time of day
        near = None if joined and _goes_on(written) else incident_lookup.meant_type(written)
        if near is not None:
            return None, match[2], near
    return _private(bare) or (None, said, None)


def undressed(said: str) -> str:
    """Take the emoji in front of what was typed away, and the quotes around it."""
    emoji = incident_lookup.EMOJI.match(said)
    return messages.unquoted(said[emoji.end() :] if emoji else said)


def leading(
    said: str, among: Iterable[IncidentType], *, after: Collection[str] = (), apart: bool = False
) -> tuple[IncidentType | None, str]:
    """Split the type off whose name these words begin with, the longest one, however its words are joined.

    Words of ``after`` may stand before it, or begin it. With ``apart`` a space follows the name, or nothing.
    """
    read = said
    for escape, instead in ESCAPES.items():
        read = read.replace(escape, instead)
    words, types = list(WORD.finditer(read)), list(among)
    first = next((n for n, word in enumerate(words) if word.group().casefold() not in after), len(words))
    starts = [words[n:] for n in range(first + 1)]
    called = [(names(one), one) for names in incident_lookup.CALLED for one in types]
    ends = [(_end_of_name(names, start), one) for names, one in called for start in starts]
    end, found = max(ends, key=lambda one: one[0], default=(0, None))
    if not end or (apart and not APART.match(said, end)):
        return None, said
    return found, BETWEEN.sub("", said[end:])


def _goes_on(written: str) -> bool:
    """Return whether more follows the name of a type, as in *major outage since 14*: then no colon ends the name."""
    named, rest = leading(written, current_types.every())
    return named is not None and rest != ""


def _private(said: str) -> Typed | None:
    """Find a private type, archived or not, whose name stands in front without a colon."""
    named, title = leading(said, current_types.private(), after=BEFORE)
    if named is None:
        return None
    return None, title, named if named.archived_at is None else incident_lookup.meant_type(named.slug)


def _end_of_name(names: Collection[str], words: Iterable[re.Match[str]]) -> int:
    """Return where the longest of these names ends that these words begin with; 0 where they do not."""
    longest, said, end = max(map(len, names), default=0), "", 0
    for word in words:
        said += incident_lookup.bare(word.group())
        if len(said) > longest:
            break
        end = word.end() if said in names else end
    return end
