"""Every ordered pair of the six types: the workspace reaches the desired state with the fewest calls."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest

from incidents.models import Incident
from incidents.policies import policy_file
from incidents.policies.policy import Policy
from integrations.tests.house import GROUPS, House

ROOT = Path(__file__).resolve().parents[2]
POLICIES = {policy.slug: policy for policy in policy_file.read(ROOT / "fixtures/incident_types.yaml").policies}
PAIRS = list(permutations(POLICIES, 2))


def people_of(policy: Policy, *, present: frozenset[str] = frozenset()) -> set[str]:
    """Return the people a policy brings in, computed only from the table and the test's groups."""
    found = {member for group in policy.invite for member in GROUPS[group]}
    for one in policy.one_of:
        members = sorted(GROUPS[one.group])
        found.add(next((member for member in members if member in present | found), members[0]))
    return found


def test_there_are_thirty_pairs() -> None:
    assert len(PAIRS) == 30


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=[f"{a}-to-{b}" for a, b in PAIRS])
def test_a_retype_ends_as_desired_by_the_fewest_calls(house: House, before: str, after: str) -> None:
    first, then = POLICIES[before], POLICIES[after]
    incident = house.declare(type=before)
    here = frozenset({"dee"} | people_of(first))
    assert house.slack.members(house.channel(incident)) == here | {"firekind"}
    house.slack.calls.clear()

    incident = house.retype(incident, after)

    check = to_private if then.private and not first.private else in_place
    check(house, incident, first, then, here)
    assert not [call for call in house.slack.calls if not call.ok]
    house.slack.calls.clear()
    house.settle(incident)
    assert not list(house.slack.calls)


def in_place(house: House, incident: Incident, first: Policy, then: Policy, here: frozenset[str]) -> None:
    """Check a retype in place: new people come, no one leaves, and everything that names the type is updated."""
    wanted = here | people_of(then, present=here)
    room = house.channel(incident)
    assert house.slack.members(room) == wanted | {"firekind"}
    assert house.slack.channel(room).is_private == first.private
    assert house.slack.topic(room).startswith(then.name)
    announced = [text for text in house.slack.texts("incidents") if text]
    expected = Counter({"chat.postMessage": 1, "conversations.setTopic": 1, "chat.update": 1})  # told; topic; headline
    if wanted > here:
        expected["conversations.invite"] = 1
    reads = 0
    if not first.private and first.announce:
        expected["chat.update"] += 1
        reads = 1  # whether the announcement was withdrawn in moments that the database lost
        assert len(announced) == 1
    elif not first.private and then.announce:
        expected["chat.postMessage"] += 1
        assert len(announced) == 1
    else:
        assert not announced
    assert Counter(house.writes()) == expected
    assert len(list(house.slack.calls)) == expected.total() + reads


def to_private(house: House, incident: Incident, first: Policy, then: Policy, here: frozenset[str]) -> None:
    """Check a move: only the actor and the new policy's people come along, and our words are withdrawn."""
    old, new = house.channel(incident, 1), house.channel(incident, 2)
    assert house.slack.members(new) == {"dee", "firekind"} | people_of(then, present=frozenset({"dee"}))
    assert house.slack.channel(new).is_private
    assert house.slack.channel(old).is_archived
    assert house.slack.members(old) == frozenset(), "Slack takes everyone out of what is archived"
    assert "Checkout" not in " ".join(
        [*house.slack.texts(old), *house.slack.texts("incidents"), house.slack.topic(old)]
    )
    expected = Counter(
        {
            "conversations.create": 1,
            "conversations.invite": 1,
            "conversations.setTopic": 2,  # set on the new channel, cleared on the old one
            "bookmarks.add": 1,
            "bookmarks.remove": 1,
            "chat.postMessage": 4,  # headline, handover message, what happened; the neutral line in the old channel
            "pins.add": 1,
            "chat.update": 1 + first.announce,  # the old headline and the announcement withdrawn
            "conversations.archive": 1,
        }
    )
    assert Counter(house.writes()) == expected
    read = Counter(call.method for call in house.slack.calls) - expected
    assert read == {"conversations.history": 1}, "what others posted is counted once; nothing else is read"
