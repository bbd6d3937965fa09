"""Which tickets are wanted, and which edits go which way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workflows.planning.tickets import wanted
from workflows.planning.tickets.merging import merge
from workflows.planning.tickets.wanted import FIELDS, TrackedFollowup, TrackerNow

OPEN, PRIVATE = "github:acme/ops", "github:acme/private"
followups = st.builds(TrackedFollowup, st.integers(1, 3), st.just("Rotate"), st.sampled_from(["open", "done"]))
places = st.dictionaries(
    st.sampled_from([wanted.key(n, private=private) for n in (1, 2, 3) for private in (False, True)]),
    st.sampled_from([OPEN, PRIVATE, "jira:OLD"]),
)
values = st.fixed_dictionaries({name: st.sampled_from("ab") for name in FIELDS})


@given(st.lists(followups, unique_by=lambda one: one.n), places, st.booleans(), st.sampled_from(["", PRIVATE]))
def test_nothing_of_a_private_incident_is_said_in_the_open_project(
    some: list[TrackedFollowup], known: dict[str, str], private: bool, private_place: str
) -> None:
    tracker = TrackerNow("GitHub Issues", OPEN, private_place)
    found = {one.key: one for one in wanted.tickets(tuple(some), tracker=tracker, known=known, private=private)}
    for key, one in found.items():
        is_said = not one.spec.get("withdrawn")
        assert one.spec["place"] == known.get(key, one.spec["place"]), "a ticket elsewhere is left alone"
        assert is_said or key in known, "nothing is opened to be withdrawn"
        assert not (private and is_said) or one.spec["place"] == private_place != ""
    if private:
        numbers = {one.n for one in some}
        stand = {key for key, place in known.items() if place == OPEN and not key.endswith("private")}
        assert {key for key in stand if wanted.number(key) in numbers} <= found.keys()


@given(values, values, values, st.sets(st.sampled_from(FIELDS)), st.booleans())
def test_a_field_goes_one_way_at_most_and_only_where_somebody_moved_it(
    ours: dict[str, str], theirs: dict[str, str], sent: dict[str, str], moved: set[str], newer: bool
) -> None:
    found = merge(ours, theirs, sent=sent, moved=moved, ours_is_newer=newer)
    assert not found.send.keys() & found.take.keys()
    for name in FIELDS:
        we_moved, they_moved, agree = ours[name] != sent[name], name in moved, ours[name] == theirs[name]
        sends = we_moved and (not they_moved or (newer and not agree))
        assert (name in found.send) == sends
        assert (name in found.take) == (they_moved and not agree and not sends)
