"""The type typed in front of a title: split off when it is certain, asked about when it is not."""

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
ESCAPES: Final = {"&amp;": "&    ", "&lt;": "<   ", "&gt;": ">   "}  # as many characters in place of each
# Words that may precede a type's name: *a possible security incident*.
BEFORE: Final = frozenset(
    ("a", "an", "the", "as", "new", "type", "possible", "potential", "suspected", "probable", "maybe")
)


def split(said: str) -> Typed:
    """Split ``security: someone has our keys`` into type and title; other colons belong to the title.

    If the type is uncertain, the third value is the most likely one: for a misspelling (``securty: …``), an archived
    type, or a private type without a colon. It is asked about, so that a slip does not make public what was meant to be
    private.
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
    """Remove a leading emoji and surrounding quotes."""
    emoji = incident_lookup.EMOJI.match(said)
    return messages.unquoted(said[emoji.end() :] if emoji else said)


def leading(
    said: str, among: Iterable[IncidentType], *, after: Collection[str] = (), apart: bool = False
) -> tuple[IncidentType | None, str]:
    """Split a leading type name off a text, the longest that fits, however its words are joined.

    Words in ``after`` may come before the name or be its first ones. With ``apart``, the name has to be followed by a
    space or by nothing.
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
    """Return whether more follows a type's name before the colon, as in *major outage since 14*."""
    named, rest = leading(written, current_types.every())
    return named is not None and rest != ""


def _private(said: str) -> Typed | None:
    """Find a private type, archived or not, whose name is in front without a colon."""
    named, title = leading(said, current_types.private(), after=BEFORE)
    if named is None:
        return None
    return None, title, named if named.archived_at is None else incident_lookup.meant_type(named.slug)


def _end_of_name(names: Collection[str], words: Iterable[re.Match[str]]) -> int:
    """Return the position after the longest of these names that the words begin with; 0 if there is none."""
    longest, said, end = max(map(len, names), default=0), "", 0
    for word in words:
        said += incident_lookup.bare(word.group())
        if len(said) > longest:
            break
        end = word.end() if said in names else end
    return end
