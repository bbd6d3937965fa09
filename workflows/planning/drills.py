"""What a drill may reach: its own rooms, and people who agreed to take part in drills. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workflows.planning.things import Thing
from workflows.planning.wording.card import Card, cut
from workflows.planning.wording.cards import TOPIC_CHARS
from workflows.planning.wording.marks import joined

if TYPE_CHECKING:
    from workflows.planning.facts import Facts, Stay
    from workflows.planning.invitee import Invitee

WORD: Final = "Drill"
SAYS: Final = (
    "This is a drill: no one is paged, nothing is announced, and only people who agreed to drills are invited."
)
# The kinds of things that stay in the drill's own rooms. Any other kind is never made for a drill.
OWN: Final = frozenset(
    {"channel", "member", "topic", "bookmark", "post", "pin", "upload", "picture", "archived", "closed", "counted"}
)
# How stays begin that are people's own doing: they joined themselves, whether or not they agreed to drills.
THEMSELVES: Final = frozenset({"declared", "joined", "glass", "retyped", "let-in"})


def within_reach(facts: Facts) -> Facts:
    """Return a drill's facts without anything that would reach further; other incidents' facts are unchanged."""
    if not facts.is_drill:
        return facts
    return replace(
        facts,
        policy=facts.policy.rehearsed,
        groups={handle: None if some is None else _able(some, facts) for handle, some in facts.groups.items()},
        on_call={name: None if some is None else _able(some, facts) for name, some in facts.on_call.items()},
        otherwise={name: one for name, one in facts.otherwise.items() if may_come(one.person_id, facts)},
        chosen={role: one for role, one in facts.chosen.items() if may_come(one.person_id, facts)},
        sources={},
        pager=False,
        published=None,
    )


def may_come(person_id: int, facts: Facts) -> bool:
    """Return whether someone may be in. In a drill: those who agreed to drills, are already in, or joined themselves.

    Someone who withdraws the agreement is left out of the next drills, and stays in this one until they leave. No one
    is invited to a replay who may not see what it replays, however they joined.
    """
    if person_id in facts.barred:
        return False
    if not facts.is_drill or person_id in facts.agreed:
        return True
    if facts.declarer is not None and facts.declarer.person_id == person_id:
        return True
    own = (stay for stay in facts.stays if stay.who.person_id == person_id)
    return any(stay.came in THEMSELVES or _was_brought_in(stay, facts) for stay in own)


def _was_brought_in(stay: Stay, facts: Facts) -> bool:
    """Return whether a stay really took place: in a room, by name in a closed circle, or on the web."""
    in_a_room = any(facts.is_there(f"member/{room.number}/{stay.who.chat_id}") for room in facts.rooms)
    return in_a_room or (stay.here and (facts.is_closed or not stay.who.chat_id))


def _able(people: Iterable[Invitee], facts: Facts) -> tuple[Invitee, ...]:
    return tuple(one for one in people if may_come(one.person_id, facts))


def kept_inside(things: Iterable[Thing], facts: Facts) -> Iterator[Thing]:
    """Yield what may be made for an incident; for a drill, only what stays in its own rooms, marked as a drill."""
    for one in things:
        if not facts.is_drill:
            yield one
        elif one.kind in OWN and one.room is not None:
            yield _marked(one)


def _marked(thing: Thing) -> Thing:
    """Begin its text with the word for a drill, because that is what a lock screen shows."""
    if thing.kind == "post":
        card = Card.from_dict(thing.spec["card"])
        title, text = (f"{WORD}: {card.title}", card.text) if card.title else ("", joined(f"{WORD}: ", card.text))
        return replace(thing, spec={**thing.spec, "card": replace(card, title=title, text=text).as_dict()})
    if thing.kind == "topic" and thing.spec["text"]:
        return replace(thing, spec={**thing.spec, "text": cut(f"{WORD} · {thing.spec['text']}", TOPIC_CHARS)})
    return thing
