"""Replays: hidden until its moment, each entry once, and no one reads in one what they may not read in the past."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle, timeline, visibility
from incidents.drills import agreement, replays, said_and_done
from incidents.models import Event, Incident, IncidentType, Participant, Person, Replay

Shipped = dict[str, IncidentType]
BEGAN = timedelta(hours=5)


def lived(shipped: Shipped, ada: Person, *, at: datetime, type: str = "ambiguous") -> Incident:
    """Return an incident that was declared, led, retyped, updated and resolved."""
    made = lifecycle.declare("Checkout is slow", by=ada, at=at, type=shipped[type])
    steps = iter(at + timedelta(minutes=10 * n) for n in range(1, 9))
    lifecycle.set_lead(made, lead=ada, by=ada, at=next(steps))
    lifecycle.note(made, text="the xylophone pool is empty", by=ada, at=next(steps))
    lifecycle.retype(made, to=shipped["isolated"], by=ada, at=next(steps), because="one customer only")
    lifecycle.update(made, text="we are rolling back", by=ada, at=next(steps))
    return lifecycle.resolve(made, by=ada, at=next(steps), text="rolled back")


@pytest.fixture
def past(shipped: Shipped, ada: Person) -> Incident:
    """Return a public incident that has ended."""
    return lived(shipped, ada, at=timezone.now() - BEGAN)


def shown(drill: Incident) -> list[Event]:
    return list(Event.objects.filter(incident=drill, kind="replayed").order_by("n"))


def play(drill: Incident, at: datetime, *, minutes: int) -> datetime:
    """Look every minute, twice each time."""
    for _ in range(minutes):
        at += timedelta(minutes=1)
        replays.advance(at=at)
        replays.advance(at=at)
    return at


def test_everything_is_shown_once_and_what_was_said_stands_beside_what_was_done(
    past: Incident, ada: Person, ben: Person
) -> None:
    at = timezone.now()
    drill = replays.start(past, by=ben, at=at, speed=10)
    assert drill.type.slug == "ambiguous"
    assert "xylophone" not in " ".join(Event.objects.filter(incident=drill).values_list("text", flat=True))
    with pytest.raises(lifecycle.Refused, match="No question is open"):
        replays.answer(drill, text="wait", by=ben, at=at)
    replays.advance(at=at)
    assert [one.data["past"] for one in shown(drill)] == [1]
    replays.show_next(drill, by=ben, at=at)
    replays.answer(drill, text="take the lead", by=ben, at=at)
    at = play(drill, at, minutes=30)
    played = Event.objects.filter(incident=past, kind__in=replays.PLAYED).order_by("at", "n")
    assert [one.data["past"] for one in shown(drill)] == [one.n for one in played]
    assert Replay.objects.get(incident=drill).over_at is not None
    entries = timeline.entries(Event.objects.filter(incident=drill).select_related("by"))
    first, *others = said_and_done.compare(entries)
    assert [one.text for one in first.said] == ["take the lead"]
    assert first.done is not None
    assert first.done.event.data["label"] == "Lead"
    assert [one.done.event.data["label"] for one in others if one.done] == ["Retyped", "Resolved"]
    with pytest.raises(lifecycle.Refused, match="is over"):
        replays.show_next(drill, by=ben, at=at)


# What people write: short, contained in what others write, over several lines, and right-to-left.
WRITTEN = ("ok", "looks ok, the token stays", "token", "one\n\ntwo", "הסיסמה היא\nזברה", "\u2067open", "a" * 300)


@pytest.mark.parametrize("which", range(len(WRITTEN)))
def test_a_redaction_takes_out_of_a_replay_what_it_showed_of_the_entry_and_nothing_else(
    shipped: Shipped, ada: Person, ben: Person, which: int
) -> None:
    at = timezone.now() - BEGAN
    past = lifecycle.declare("Checkout is slow", by=ada, at=at, type=shipped["ambiguous"])
    notes = [
        lifecycle.note(past, text=text, by=ada, at=at + timedelta(minutes=n)).n for n, text in enumerate(WRITTEN, 1)
    ]
    lifecycle.resolve(past, by=ada, at=at + timedelta(hours=1))
    drill = replays.start(past, by=ben, at=timezone.now(), speed=600)
    play(drill, timezone.now(), minutes=20)
    before = {one.data["past"]: one.text for one in shown(drill)}
    assert before.keys() >= set(notes)
    lifecycle.redact(past, n=notes[which], by=None, at=timezone.now())
    gone = [one.data["past"] for one in shown(drill) if one.redacted]
    assert gone == [notes[which]]
    assert {one.data["past"]: one.text for one in shown(drill)} == before | {notes[which]: ""}


def test_words_that_were_redacted_are_redacted_before_and_after_they_were_shown(
    past: Incident, ada: Person, ben: Person
) -> None:
    note = Event.objects.get(incident=past, kind="noted")
    drill, other = (replays.start(past, by=ben, at=timezone.now(), speed=600) for _ in range(2))
    play(drill, timezone.now(), minutes=20)
    assert any("xylophone" in one.text for one in shown(drill))
    Replay.objects.filter(incident=other).update(shown=0, shown_at=timezone.now() + timedelta(days=1))
    lifecycle.redact(past, n=note.n, by=ada, at=timezone.now())
    fresh = replays.start(past, by=ben, at=timezone.now(), speed=600)
    play(fresh, timezone.now(), minutes=20)
    for one in (drill, fresh):
        assert not any("xylophone" in event.text for event in shown(one))


@pytest.mark.parametrize("how", ["turned private", "someone came"])
def test_a_replay_stops_where_someone_would_read_what_they_may_not_see(
    how: str, shipped: Shipped, past: Incident, ada: Person, ben: Person, eve: Person
) -> None:
    at = timezone.now()
    if how == "turned private":
        drill = replays.start(past, by=ben, at=at)
        lifecycle.bring_in(drill, people=[ada], by=ada, at=at)
        lifecycle.reopen(past, by=ada, at=at)
        lifecycle.retype(past, to=shipped["security"], by=ada, at=at)
        lifecycle.resolve(past, by=ada, at=at)
    else:
        secret = lived(shipped, ada, at=at - BEGAN, type="security")
        drill = replays.start(secret, by=ada, at=at)
        assert drill.private
        agreement.agree(eve, agrees=True)
        with pytest.raises(lifecycle.BadInput, match="allowed to see"):
            lifecycle.bring_in(drill, people=[eve], by=ada, at=at)
        lifecycle.joined(drill, person=eve, room=1, inviter=ada, at=at)
        assert Participant.objects.filter(incident=drill, person=eve, left_at=None).exists()
    replays.advance(at=at + timedelta(hours=1))
    assert not shown(drill)
    assert Replay.objects.get(incident=drill).why
    for one in (ben, eve):
        assert not visibility.may_see(one, drill)
    assert visibility.may_see(ada, drill)
    assert visibility.who_may_see(drill.pk, among=[ben.pk, eve.pk]) == set()


def looked(drill: Incident, *, at: datetime, ends_at: dict[int, int]) -> list[int]:
    """Look at a replay every minute of its drill; the drill ends after some of them, for this many minutes each."""
    counts = []
    for minute in range(30):
        at += timedelta(minutes=1)
        replays.advance(at=at)
        counts.append(Event.objects.filter(incident=drill, kind__in=["replayed", "replay_asked"]).count())
        if minute in ends_at:
            lifecycle.resolve(drill, by=None, at=at)
            at += timedelta(minutes=ends_at[minute])
            replays.advance(at=at)
            with pytest.raises(lifecycle.Refused, match="has ended"):
                replays.show_next(drill, by=None, at=at)
            lifecycle.reopen(drill, by=None, at=at)
    return counts


def test_a_replay_rests_while_its_drill_has_ended_and_goes_on_where_it_was(past: Incident, ben: Person) -> None:
    began = timezone.now()
    undisturbed = looked(replays.start(past, by=ben, at=began), at=began, ends_at={})
    assert undisturbed[0] < undisturbed[4] < undisturbed[-1], "entries come one by one"
    began += timedelta(hours=1)
    rested = replays.start(past, by=ben, at=began)
    assert looked(rested, at=began, ends_at={0: 90, 3: 7, 6: 600}) == undisturbed


def test_only_what_ended_and_was_real_is_replayed_by_who_may_see_it(
    shipped: Shipped, past: Incident, ada: Person, eve: Person
) -> None:
    at = timezone.now()
    drill = replays.start(past, by=eve, at=at)
    for one, why in ((lifecycle.reopen(past, by=ada, at=at), "has ended"), (drill, "is a drill")):
        with pytest.raises(lifecycle.Refused, match=why):
            replays.start(one, by=ada, at=at)
    secret = lived(shipped, ada, at=at - BEGAN, type="security")
    with pytest.raises(lifecycle.NotThere):
        replays.start(secret, by=eve, at=at)
    with pytest.raises(lifecycle.BadInput):
        replays.start(secret, by=ada, at=at, speed=0)
