"""Resources and owed effects, as planning sees them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final

from workflows.models import Effect, Resource
from workflows.planning.actions import CHANGE, CREATE, RETIRE
from workflows.planning.observed import (
    ELSEWHERE,
    GONE,
    IN_WORKSPACE,
    PUT_OUT,
    REFUSED,
    THERE,
    UNSETTLED,
    WORDS,
    Observed,
    ObservedThing,
    Owed,
)
from workflows.planning.things import Spec

ANNOUNCED: Final = ("announcement", "notice")


def thing(resource: Resource, ended: Collection[str], elsewhere: Collection[str] = ()) -> ObservedThing:
    """Return a thing as it was last seen; one in ``ended`` or ``elsewhere``, which hold keys, counts as gone."""
    state = GONE if resource.key in ended or resource.key in elsewhere else resource.state
    why = str(resource.external.get("why", "")) if state in (REFUSED, GONE) or resource.kind == "channel" else ""
    why = ELSEWHERE if resource.key in elsewhere else why
    return ObservedThing(resource.kind, resource.spec, state, resource.room, resource.label, why)


def owed(effects: Iterable[Effect], *, place: str) -> dict[str, tuple[Owed, ...]]:
    """Return what is owed, by the key of its thing, oldest first; tickets now go to ``place``.

    An effect that may exist in another project gets a key of its own, so that the thing itself can be made in
    ``place``.
    """
    chains: dict[str, list[Owed]] = defaultdict(list)
    for effect in effects:
        started = effect.state != Effect.State.WAITING or effect.unsure
        failed = effect.state == Effect.State.FAILED
        doubted = failed and effect.unsure and effect.verb == CREATE and effect.kind in WORDS
        elsewhere = doubted and effect.error_code == ELSEWHERE and effect.spec["place"] != place
        away = doubted and effect.error_code.startswith(IN_WORKSPACE)
        unfound = doubted and (effect.abandoned or elsewhere or away)
        sought = effect.abandoned and effect.unsure and not failed
        how = (started, effect.room, failed, tuple(effect.needs), doubted, unfound, sought)
        if effect.kind == "member":
            for person in effect.spec["people"]:
                member = {"room": effect.room, "person": person}
                key = f"member/{effect.room}/{person}"
                chains[key].append(Owed(effect.key, CREATE, member, *how))
        else:
            spec = None if effect.verb == RETIRE else effect.spec
            thing = f"{effect.thing}@{effect.spec['place']}" if elsewhere else effect.thing
            chains[thing].append(Owed(effect.key, effect.verb, spec, *how))
    return {key: tuple(chain) for key, chain in chains.items()}


def failing(effects: Iterable[Effect]) -> frozenset[str]:
    """Return the numbers of failed effects, as timeline entries name them."""
    return frozenset(str(effect.pk) for effect in effects if effect.state == Effect.State.FAILED)


def uninvited(observed: Observed, effects: Iterable[Effect], *, room: int) -> str:
    """Return the vendor's error if no one could be invited to a room; empty if anyone is, was or may be in it."""
    members = [one for one in observed.seen.values() if one.kind == "member" and one.room == room]
    owed = [one for one in effects if one.kind == "member" and one.room == room]
    if any(one.state != REFUSED for one in members) or any(one.state != Effect.State.FAILED for one in owed):
        return ""
    return next((why for why in (*(one.error for one in owed), *(one.why for one in members)) if why), "")


def has_words(room: int, observed: Observed) -> bool:
    """Return whether a room has words of ours that were not withdrawn, or may have; the farewell does not count."""
    seen = (one.spec for key, one in observed.seen.items() if one.room == room and _is_ours(key) and one.state == THERE)
    chains = (chain for key, chain in observed.owed.items() if _is_ours(key))
    return any(map(_tells, seen)) or any(one.doubted for chain in chains for one in chain if one.room == room)


def _is_ours(key: str) -> bool:
    return key.startswith(("headline/", "told/", "topic/"))


def _tells(spec: Spec) -> bool:
    said = spec["card"]["kind"] != "withdrawn" if "card" in spec else spec.get("text")
    return bool(said) or UNSETTLED in spec


def is_withdrawing(room: int, observed: Observed) -> bool:
    """Return whether a message of ours in a room may be being withdrawn right now, or is checked for that."""
    owed = (one for chain in observed.owed.values() for one in chain if one.room == room and one.verb == CHANGE)
    return any(one.under_way and ((one.spec or {}).get("card") or {}).get("kind") == "withdrawn" for one in owed)


def left_elsewhere(observed: Observed) -> tuple[str, ...]:
    """Return the channels where words of ours can be read in a workspace that is no longer connected."""
    seen = {key: one for key, one in observed.seen.items() if one.why == ELSEWHERE}
    rooms = [one for one in seen.values() if one.kind == "channel" and not one.spec.get("private")]
    said = [one.label for one in rooms if has_words(one.room or 1, observed)]
    announced = seen.get("announcement")
    if announced is not None and announced.spec["card"]["kind"] != "withdrawn":
        said.insert(0, f"#{announced.spec['channel']}")
    return tuple(said)


def there(observed: Observed) -> frozenset[str]:
    """Return the keys of everything that exists, or may by now."""
    seen = {key for key, one in observed.seen.items() if one.state == THERE}
    begun = {key for key, chain in observed.owed.items() if any(one.under_way for one in chain)}
    return frozenset(seen | begun)


def sought(observed: Observed) -> frozenset[str]:
    """Return keys of what may be there, and that nobody goes on with if it is not."""
    owed = observed.owed.items()
    return frozenset(key for key, chain in owed if chain[-1].sought and key not in observed.seen)


def put_out(observed: Observed) -> frozenset[str]:
    """Return the keys of people removed from a channel by the vendor."""
    return frozenset(key for key, one in observed.seen.items() if one.state == PUT_OUT)


def apps(observed: Observed, *, room: int) -> frozenset[str]:
    """Return the chat ids of apps that are in a room."""
    members = (one for one in observed.seen.values() if one.kind == "member" and one.room == room)
    return frozenset(str(one.spec["person"]) for one in members if one.state == THERE and one.spec.get("app"))


def announced_in(observed: Observed) -> dict[str, str]:
    """Return the channel names of posts outside the incident's own channels that exist, or may by now."""
    stand = {key: one.spec for key, one in observed.seen.items() if one.state == THERE}
    begun = {key: one.spec for key, chain in observed.owed.items() for one in chain if one.under_way and one.spec}
    posts = {key: spec for key, spec in (begun | stand).items() if key in ANNOUNCED}
    return {key: str(spec["channel"]) for key, spec in posts.items()}
