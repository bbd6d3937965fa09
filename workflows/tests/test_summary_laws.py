"""Laws of opening up, over random stories: only the words that two people confirmed are in public."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from workflows.planning.actions import CREATE
from workflows.planning.facts import Published
from workflows.tests.shipped_facts import POLICIES, facts
from workflows.tests.stories import play, steps, types
from workflows.tests.world import World

texts = st.sampled_from(["All is well.", "A key was revoked.", "Nobody used it."])


@dataclass(slots=True)
class Opening(World):
    """A world in which two people may confirm a summary of a private incident."""

    confirmed: set[str] = field(default_factory=set)

    def publish(self, text: str) -> None:
        """Someone confirms a summary."""
        if not self.facts.private:
            return
        said = Published("mild-heron", "inc-mild-heron", text, "https://firekind.test/summaries/mild-heron")
        self.confirmed.add(text)
        self.facts = replace(self.facts, published=said, revision=self.facts.revision + 1)


stories = st.lists(st.one_of(steps, st.tuples(st.just("publish"), texts)), max_size=25)


@settings(max_examples=150, deadline=None)
@given(first=types, story=stories)
def test_the_public_room_of_a_summary_holds_its_words_alone(first: str, story: list[tuple[str, object]]) -> None:
    world = Opening(facts(first, pager=True))
    play(world, story)
    world.settle()
    assert world.reconcile().is_empty
    public = [action for action in world.done if "outlet" in (action.kind, action.spec.get("in"))]
    if not world.confirmed:
        assert not public
        return
    assert sum(action.kind == "outlet" for action in public) == 1
    for action in (action for action in public if action.kind != "outlet"):
        assert (action.thing, action.kind) == ("summary", "post")
        card = dict(action.spec["card"])
        assert card.pop("text") in world.confirmed
        for told in (*world.facts.told, world.facts):
            assert getattr(told, "text", world.facts.title) not in str(card)
        assert world.facts.codename not in str(action.spec)
    assert world.facts.published is not None
    assert world.seen["summary"].spec["card"]["text"] == world.facts.published.text
    assert not [one for one in world.done if one.kind == "member" and one.room is None]


@settings(max_examples=150, deadline=None)
@given(first=types, story=stories)
def test_a_summary_is_announced_once_and_that_leads_to_it_alone(first: str, story: list[tuple[str, object]]) -> None:
    world = Opening(facts(first, pager=True))
    play(world, story)
    world.settle()
    notices = [action for action in world.done if action.thing == "notice"]
    assert len(notices) == (1 if world.confirmed else 0)
    for action in notices:
        assert (action.kind, action.verb, action.spec["channel"]) == ("post", CREATE, world.facts.announce_channel)
        assert {"outlet", "summary"} <= set(action.needs), "it is said once what it leads to stands"
        assert world.facts.published is not None
        assert action.spec["card"]["link"] == world.facts.published.url
        assert not leading(str(action.spec), world)


def leading(said: str, world: World) -> list[str]:
    """Return the words that lead to the incident: its names, its title, types, people, messages."""
    known = world.facts
    words = [known.codename, known.title, known.url, *(event.text for event in known.told)]
    words += [policy.name for policy in POLICIES.values()]
    words += [one.name for members in known.groups.values() for one in members or ()]
    words += [room.name for room in known.rooms]
    return [word for word in words if re.search(rf"\b{re.escape(word)}\b", said)]
