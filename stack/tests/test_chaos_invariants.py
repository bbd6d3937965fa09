"""Every invariant of a chaos run detects its violation: each sees one aftermath in which nothing else is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stack.chaos.judging import held_up, invariants, standing
from stack.chaos.judging.aftermath import Accepted, Aftermath
from stack.chaos.judging.unnamed_failures import UnnamedFailures
from stack.chaos.outages import Outage
from stack.chaos.restores import Restore, may_be_lost

BOT, ADA, WEI = "UBOT", "UADA", "UWEI"
OUT, PAGER_OUT = Outage("slack", 20.0, 60.0), Outage("pager", 20.0, 60.0)
KEPT: dict[str, Any] = {"metadata": {"event_payload": {"mark": "m1"}}}


def accepted(**other: Any) -> Accepted:
    given: dict[str, Any] = {
        "codename": "red-fox",
        "word": "zqone",
        "becomes": "updated",
        "who": "ada",
        "act": "update",
    }
    return Accepted(**{**given, "began_at": 9.0, "ended_at": 10.0, **other})


def opened(kind: str, *waited: float, times: int = 6) -> list[dict[str, Any]]:
    return [{"kind": kind, "asked_at": 30.0, "done_at": 30.0 + seconds} for seconds in waited for _ in range(times)]


def call(method: str, at: float = 1.0, **args: Any) -> dict[str, Any]:
    return {"method": method, "ok": True, "args": args, "began_at": at}


def joined(user: str, **other: Any) -> dict[str, Any]:
    return {"subtype": "channel_join", "user": user, "inviter": BOT, **other}


def channel(**other: Any) -> dict[str, Any]:
    return {
        "id": "C1", "name": "inc-red-fox", "is_private": True, "is_archived": False, "members": [BOT, ADA],
        "creator": BOT, "topic": "Security · Open", "bookmarks": [], "messages": [joined(ADA)], **other,
    }  # fmt: skip


PUBLIC = channel(id="C0", name="incidents", is_private=False, creator="UBOSS", messages=[{"user": BOT, "text": "one"}])
NEWS = channel(id="C8", name="news", creator="UBOSS", members=[], messages=[{"user": BOT, "text": "one", "ts": "1.1"}])
INCIDENT = {
    "codename": "red-fox", "private": True, "is_drill": False, "room": 1, "revision": 3, "planned": 3, "last_n": 2,
}  # fmt: skip
DRILL = {**INCIDENT, "codename": "drill-owl", "private": False, "is_drill": True, "last_n": 0}
FOLLOWUP = {"codename": "red-fox", "n": 1, "text": "zqone", "state": "open", "account": "ada", "ticket": "sb/private#1"}
TICKET = {
    "project": "sb/private", "n": 1, "title": "zqone", "body": "mark", "state": "open", "owner": "ada",
    "deleted": False, "mark": "m1", "open_to_all": False,
}  # fmt: skip
OTHER_TICKET = {**TICKET, "project": "sb/open", "title": "Withdrawn", "mark": "", "open_to_all": True}
BY_EVENT = {"id": "P2", "key": None, "status": "triggered", "alerts": [{"key": "k1", "status": "triggered"}]}
ROOM = {
    "codename": "red-fox", "room": 1, "channel": "C1", "kind": "channel", "state": "there", "label": "#inc-red-fox",
    "private": True, "archived": False,
}  # fmt: skip
STANDS = {"codename": "red-fox", "what": "announcement", "channel": "C8", "ts": "1.1", "says": "one"}
GOOD = Aftermath(
    accepted=[accepted(), accepted(word="zqtwo", becomes="retyped", act="retype", to_private=True)],
    incidents=[INCIDENT],
    events=[
        {"codename": "red-fox", "n": 1, "kind": "updated", "said": "zqone it is"},
        {"codename": "red-fox", "n": 2, "kind": "retyped", "said": "zqtwo"},
    ],
    rooms=[ROOM],
    takes_part=[{"codename": "red-fox", "chat_id": ADA}],
    pages=[{"codename": "red-fox", "pager_id": "P1", "dedup_key": "k1", "status": "triggered"}],
    wanted={"red-fox": [ADA]},
    stands=[
        {"codename": "red-fox", "what": "topic/1", "channel": "C1", "ts": "topic", "says": "Security · Open"},
        STANDS,
        {**STANDS, "says": f"on{standing.NAMED} and so on"},
    ],
    channels=[channel(), PUBLIC, NEWS],
    calls=[call("conversations.create", name="inc-red-fox"), call("chat.postMessage", channel="C1", **KEPT)],
    pager_incidents=[{"id": "P1", "key": "k1", "status": "triggered"}],
    followups=[FOLLOWUP],
    tickets=[TICKET, OTHER_TICKET],
    replayed=[{"codename": "drill-elk", "past": "1"}, {"codename": "drill-elk", "past": "2"}],
    looked_in=[{"codename": "red-fox", "who": "ada", "path": "/", "status": 404}],
    bot=BOT,
    words={"red-fox": ["zqone", "zqtwo"]},
)
RESTORE = Restore(copied_at=11, stopped_at=19, back_at=20, turned_private=("drill-owl",))
LOST = accepted(word="zqlost", began_at=12.0, ended_at=13.0, may_be_lost=True)
WRITTEN = accepted(word="zqfour", act="review_written", becomes="")
FAILED = {
    "codename": "red-fox", "key": "told/2#1", "error": "It is archived.", "error_code": "is_archived",
    "verb": "create", "active": False, "room": 1,
}  # fmt: skip
UNANNOUNCED = {**FAILED, "key": "announcement#1", "state": "failed", "room": None}
SAID = {"user": BOT, "text": "zqone"}
AT_A_DRILL: dict[str, Any] = {
    "incidents": [INCIDENT, DRILL],
    "rooms": [
        *GOOD.rooms,
        {**ROOM, "codename": "drill-owl", "channel": "C3", "label": "#inc-drill-owl", "private": False},
    ],
    "channels": [channel(), PUBLIC, channel(id="C3", name="inc-drill-owl", is_private=False, messages=[joined(WEI)])],
}
BREAKS: list[tuple[str, dict[str, Any]]] = [
    ("every accepted command is on a timeline, once", {"accepted": [accepted(word="zqlost")]}),
    ("every accepted command is on a timeline, once", {"accepted": [accepted(becomes="noted")]}),
    (
        "every accepted command is on a timeline, once",
        {"events": [*GOOD.events, {**GOOD.events[0], "n": 3}], "incidents": [{**INCIDENT, "last_n": 3}]},
    ),
    ("no number of a timeline is missing", {"incidents": [{**INCIDENT, "last_n": 3}]}),
    ("nothing is owed", {"effects": [{**FAILED, "state": "waiting"}]}),
    ("nothing is owed", {"effects": [{**FAILED, "state": "running"}]}),
    ("nothing is owed", {"incidents": [{**INCIDENT, "planned": 2}]}),
    ("nothing is owed", {"incidents": [{**INCIDENT, "planned": None}]}),
    ("nothing failed for good", {"effects": [{**FAILED, "state": "failed"}]}),
    ("nothing failed for good", {"effects": [{**UNANNOUNCED, "active": True}]}),
    ("nothing failed for good", {"effects": [{**UNANNOUNCED, "verb": "change"}]}),
    ("nothing failed for good", {"effects": [{**UNANNOUNCED, "error_code": "missing_scope"}]}),
    ("the sweep finds nothing to do", {"unsettled": ["red-fox"]}),
    ("everyone wanted is in the channel", {"wanted": {"red-fox": [ADA, WEI]}}),
    (
        "nobody is told the same directly twice",
        {"calls": [*GOOD.calls, *(call("chat.postMessage", channel="UADA", text="Create it") for _ in range(2))]},
    ),
    ("who is in which group is known", {"groups": [{"handle": "support", "members": [ADA]}]}),
    ("nobody is in a private channel who may not be", {"channels": [channel(members=[BOT, ADA, WEI]), PUBLIC]}),
    (
        "what is private is talked about in private",
        {"channels": [channel(is_private=False), PUBLIC], "rooms": [{**ROOM, "private": False}]},
    ),
    ("nothing private is left in public", {"channels": [channel(), {**PUBLIC, "messages": [SAID]}]}),
    ("nothing private is left in public", {"channels": [channel(), {**PUBLIC, "topic": "zqtwo"}]}),
    (
        "nothing is said in public once private",
        {"calls": [*GOOD.calls, call("chat.postMessage", 13.0, channel="C0", text="zqone")]},
    ),
    (
        "nothing is said in public once private",
        {"calls": [*GOOD.calls, call("chat.update", 13.0, channel="C0", text="zqone")]},
    ),
    ("no channel is made twice", {"calls": [*GOOD.calls, GOOD.calls[0]]}),
    ("no channel is made twice", {"channels": [channel(), PUBLIC, channel(id="C2", name="inc-red-fox-2")]}),
    ("nobody is invited twice", {"channels": [channel(messages=[joined(ADA), joined(ADA)]), PUBLIC]}),
    ("no message is posted twice", {"calls": [*GOOD.calls, GOOD.calls[1]]}),
    (
        "no page is opened twice",
        {"pager_incidents": [*GOOD.pager_incidents, {**GOOD.pager_incidents[0], "id": "P2", "status": "resolved"}]},
    ),
    ("pages stand as the pager says", {"pager_incidents": [{**GOOD.pager_incidents[0], "status": "resolved"}]}),
    ("pages stand as the pager says", {"pager_incidents": [*GOOD.pager_incidents, BY_EVENT]}),
    ("pages stand as the pager says", {"pages": [{**GOOD.pages[0], "pager_id": "", "status": "resolved"}]}),
    ("pages stand as the pager says", {"pages": [{**GOOD.pages[0], "pager_id": "", "status": "opening"}]}),
    (
        "pages stand as the pager says",
        {"pages": [*GOOD.pages, {**GOOD.pages[0], "pager_id": "", "dedup_key": "k2", "status": "opening"}]},
    ),
    ("no ticket is opened twice", {"tickets": [TICKET, {**TICKET, "n": 2}]}),
    ("tickets are in step", {"tickets": [{**TICKET, "title": "other"}]}),
    ("tickets are in step", {"tickets": [{**TICKET, "state": "done"}]}),
    ("tickets are in step", {"followups": [{**FOLLOWUP, "account": ""}]}),
    ("no open ticket says what is private", {"tickets": [TICKET, {**OTHER_TICKET, "title": "zqtwo"}]}),
    ("a drill reaches nobody else", {"incidents": [INCIDENT, DRILL], "tickets": [{**TICKET, "body": "of drill-owl"}]}),
    (
        "a drill reaches nobody else",
        {"incidents": [INCIDENT, DRILL], "pages": [*GOOD.pages, {**GOOD.pages[0], "codename": "drill-owl"}]},
    ),
    (
        "a drill reaches nobody else",
        {"incidents": [INCIDENT, DRILL], "channels": [channel(), {**PUBLIC, "messages": [{"text": "drill-owl"}]}]},
    ),
    ("a drill invites only who agreed", {**AT_A_DRILL, "at_drills": [{"codename": "drill-elk", "chat_id": WEI}]}),
    ("nothing is replayed twice", {"replayed": [*GOOD.replayed, GOOD.replayed[0]]}),
    ("what was written is in the review, once", {"accepted": [WRITTEN]}),
    (
        "what was written is in the review, once",
        {"accepted": [WRITTEN], "reviews": [{"codename": "red-fox", "text": "zqfour and zqfour"}]},
    ),
    ("no outsider sees what is private", {"looked_in": [{**GOOD.looked_in[0], "status": 200}]}),
    (
        "what stands in the chat is what is wanted there",
        {"channels": [channel(topic="Security · Resolved"), PUBLIC]},
    ),
    (
        "what stands in the chat is what is wanted there",
        {"channels": [channel(), PUBLIC, {**NEWS, "messages": [{"user": BOT, "text": "before", "ts": "1.1"}]}]},
    ),
    ("what stands in the chat is what is wanted there", {"channels": [channel(), PUBLIC, {**NEWS, "messages": []}]}),
    ("what stands in the chat is what is wanted there", {"stands": [{**STANDS, "says": f"Two: {standing.NAMED} is"}]}),
    ("what stands in the chat is what is wanted there", {"stands": [{**STANDS, "says": "Look at https://a.example"}]}),
    ("how channels stand is known", {"rooms": [{**ROOM, "label": "#inc-old"}]}),
    ("how channels stand is known", {"rooms": [{**ROOM, "archived": True}]}),
    ("how channels stand is known", {"rooms": [{**ROOM, "private": False}]}),
    ("how channels stand is known", {"rooms": [{**ROOM, "state": "gone"}]}),
    ("how channels stand is known", {"rooms": [ROOM, {**ROOM, "channel": "C9", "room": 2}]}),
    ("the audit verifies", {"audit": "seal 7 does not hold"}),
    ("an outage holds up its vendor alone", {"outages": [OUT], "opened": opened("page", 61.0)}),
    ("an outage holds up its vendor alone", {"outages": [PAGER_OUT], "opened": opened("channel", 61.0)}),
    ("no channel is made twice", {"calls": [*GOOD.calls, call("conversations.create", name="inc-red-fox-2")]}),
    ("a restore names what may have turned private", {"restores": [replace(RESTORE, closed=("red-fox",))]}),
    (
        "what turned private stays so",
        {"restores": [RESTORE], "incidents": [INCIDENT, {**DRILL, "is_drill": False}]},
    ),
    ("a restore lets nobody in again", {"restores": [replace(RESTORE, strays=(("red-fox", WEI),))]}),
    ("the audit held after a restore", {"restores": [replace(RESTORE, audit="seal 7 does not hold")]}),
    (
        "what was said in private and lost is not public",
        {
            "accepted": [*GOOD.accepted, LOST],
            "channels": [channel(), {**PUBLIC, "messages": [{"user": BOT, "text": "zqlost"}]}],
        },
    ),
]  # fmt: skip


def test_where_nothing_is_wrong_nothing_is_said() -> None:
    assert invariants.violations(GOOD) == []


@pytest.mark.parametrize(("law", "broken"), BREAKS)
def test_each_law_notices_what_breaks_it_and_no_other_does(law: str, broken: dict[str, Any]) -> None:
    assert {one.law for one in invariants.violations(replace(GOOD, **broken))} == {law}


def test_no_law_goes_without_a_test() -> None:
    assert {law for law, _ in BREAKS} == set(invariants.LAWS)


def test_what_could_not_be_withdrawn_may_stay_where_it_is_archived_and_the_incident_says_so() -> None:
    old = {**PUBLIC, "is_archived": True, "messages": [SAID]}
    rooms = [*GOOD.rooms, {"codename": "red-fox", "room": 0, "channel": "C0", "kind": "outlet"}]
    gaps = [{"codename": "red-fox", "key": "gap/kept/0"}]
    kept = replace(GOOD, channels=[channel(), old], rooms=rooms, gaps=gaps)
    assert invariants.violations(kept) == []
    for broken in (replace(kept, gaps=[]), replace(kept, channels=[channel(), {**old, "is_archived": False}])):
        assert {one.law for one in invariants.violations(broken)} == {"nothing private is left in public"}


def test_what_was_over_before_its_announcement_had_a_channel_need_not_be_announced() -> None:
    assert invariants.violations(replace(GOOD, effects=[UNANNOUNCED])) == []


def test_what_may_have_been_said_in_a_channel_that_people_keep_archived_stays_in_doubt() -> None:
    effects, shut = [{**FAILED, "state": "failed"}], channel(is_archived=True)
    kept = replace(GOOD, effects=effects, channels=[shut, PUBLIC, NEWS], rooms=[{**ROOM, "archived": True}])
    assert invariants.violations(kept) == []
    other = replace(kept, effects=[{**FAILED, "state": "failed", "room": 2}])
    assert {one.law for one in invariants.violations(other)} == {"nothing failed for good"}


def test_who_left_may_be_invited_again_and_what_was_said_before_stays_unnoticed() -> None:
    left = {"subtype": "channel_leave", "user": ADA}
    again = replace(GOOD, channels=[channel(messages=[joined(ADA), left, joined(ADA)]), PUBLIC])
    before = replace(GOOD, calls=[*GOOD.calls, call("chat.postMessage", 9.9, channel="C0", text="zqone")])
    assert invariants.violations(again) == invariants.violations(before) == []


def test_who_was_in_a_channel_that_is_unarchived_is_invited_again_once() -> None:
    unarchived = {"subtype": "channel_unarchive", "user": WEI}
    once, twice = ([joined(ADA), unarchived, *[joined(ADA)] * times] for times in (1, 2))
    assert invariants.violations(replace(GOOD, channels=[channel(messages=once), PUBLIC])) == []
    found = invariants.violations(replace(GOOD, channels=[channel(messages=twice), PUBLIC]))
    assert {one.law for one in found} == {"nobody is invited twice"}


def test_a_ticket_that_was_deleted_before_anyone_heard_of_it_may_be_opened_again() -> None:
    gone = {**TICKET, "n": 7, "deleted": True}
    unheard = replace(GOOD, tickets=[*GOOD.tickets, gone])
    heard = {"codename": "red-fox", "n": 9, "kind": "followup_tracked", "said": '{"ticket": "sb/private#7"}'}
    assert invariants.violations(unheard) == []
    known = replace(unheard, events=[*GOOD.events, heard])
    assert "no ticket is opened twice" in {one.law for one in invariants.violations(known)}


def test_who_is_of_a_workspace_that_does_not_share_the_channel_may_be_missing() -> None:
    wanted = replace(GOOD, wanted={"red-fox": [ADA, WEI]})
    assert {one.law for one in invariants.violations(wanted)} == {"everyone wanted is in the channel"}
    assert invariants.violations(replace(wanted, people=[{"id": WEI, "is_stranger": True}])) == []


@pytest.mark.parametrize("kind", ["is_restricted", "is_ultra_restricted"])
def test_a_guest_may_be_missing_only_where_people_were_told_so(kind: str) -> None:
    wanted = replace(GOOD, wanted={"red-fox": [ADA, WEI]}, people=[{"id": WEI, "is_stranger": False, kind: True}])
    assert {one.law for one in invariants.violations(wanted)} == {"everyone wanted is in the channel"}
    told = [*GOOD.gaps, {"codename": "red-fox", "key": f"gap/invite/{WEI}"}]
    assert invariants.violations(replace(wanted, gaps=told)) == []
    anybody = replace(wanted, gaps=told, people=[{"id": WEI, "is_stranger": False}])
    assert {one.law for one in invariants.violations(anybody)} == {"everyone wanted is in the channel"}


@pytest.mark.parametrize(("marks", "held"), [(["m1", "m1"], True), (["m1", "m2"], False)])
def test_what_is_sent_again_because_the_answer_was_lost_is_not_told_twice(marks: list[str], *, held: bool) -> None:
    kept = [{"event_payload": {"mark": mark}} for mark in marks]
    told = [call("chat.postMessage", channel="UADA", text="Create it", metadata=one) for one in kept]
    assert (invariants.violations(replace(GOOD, calls=[*GOOD.calls, *told])) == []) == held


def test_two_steps_that_read_the_same_are_two() -> None:
    told = [call("chat.postMessage", channel="UADA", text="Delete it", attachments=f"retry|{one}") for one in (7, 8)]
    assert invariants.violations(replace(GOOD, calls=[*GOOD.calls, *told])) == []


@pytest.mark.parametrize(("times", "held"), [((5, 15), False), ((15, 25), True), ((5, 25), False), ((21, 25), False)])
def test_only_what_a_restore_forgot_may_be_told_again(times: tuple[float, float], *, held: bool) -> None:
    told = [call("chat.postMessage", at, channel="UADA", text="Create it") for at in times]
    restores = [RESTORE]
    assert (invariants.violations(replace(GOOD, calls=[*GOOD.calls, *told], restores=restores)) == []) == held


@pytest.mark.parametrize(("at", "held"), [(5, False), (15, True), (25, False)])
def test_only_a_channel_that_a_restore_forgot_may_belong_to_nothing(at: float, *, held: bool) -> None:
    made = call("conversations.create", at, name="inc-owl")
    calls, channels = [*GOOD.calls, made], [*GOOD.channels, channel(id="C2", name="inc-owl", messages=[])]
    restored = replace(GOOD, calls=calls, channels=channels, restores=[RESTORE])
    assert (invariants.violations(restored) == []) == held


def test_what_a_restore_forgot_may_be_on_its_timeline_once_and_not_twice() -> None:
    twice = [{"codename": "red-fox", "n": n, "kind": "updated", "said": "zqlost"} for n in (3, 4)]
    lost = replace(GOOD, accepted=[*GOOD.accepted, LOST, replace(WRITTEN, may_be_lost=True)])
    assert invariants.violations(lost) == []
    for some in (1, 2):
        found = replace(lost, events=[*GOOD.events, *twice[:some]], incidents=[{**INCIDENT, "last_n": 2 + some}])
        assert len(invariants.violations(found)) == some - 1


def test_only_what_was_answered_between_a_copy_and_the_web_that_reads_it_may_be_lost() -> None:
    assert [at for at in (10.9, 11, 19.5, 20, 30) if may_be_lost([RESTORE], at)] == [11, 19.5]


def test_a_direct_message_is_no_channel_of_an_incident() -> None:
    written = channel(id="D1", name="", kind="im", members=[BOT, ADA])
    assert invariants.violations(replace(GOOD, channels=[*GOOD.channels, written])) == []


@pytest.mark.parametrize(
    "found",
    [
        opened("channel", 300.0),  # Slack's own
        opened("page", 300.0, times=4),  # few
        opened("page", 300.0, 2.0, 2.0),  # one in three, because other things break as well
        [{**one, "asked_at": 55.0} for one in opened("page", 300.0)],  # as it ended
        [{**one, "asked_at": 10.0} for one in opened("page", 300.0)],  # before
    ],
)
def test_what_an_outage_may_hold_up(found: list[dict[str, Any]]) -> None:
    assert invariants.violations(replace(GOOD, outages=[OUT], opened=found)) == []


def test_what_was_opened_is_timed_by_the_clocks_of_who_acts_and_of_the_stand_ins() -> None:
    asks = [Accepted("red-fox", "", "declared", ADA, act, 0.0, at) for act, at in (("declare", 5.0), ("note", 9.0))]
    later = Accepted("red-fox", "", "retyped", ADA, "retype", 0.0, 80.0)
    found = held_up.opened(
        [*asks, later],
        rooms=[{"codename": "red-fox", "channel": "C1"}, {"codename": "red-fox", "channel": "C9"}],
        workspace=[{"id": "C1", "created": 7}, {"id": "C0", "created": 1}],
        pages=[{"codename": "red-fox", "dedup_key": "k"}, {"codename": "old-owl", "dedup_key": "k"}],
        pager=[{"key": None, "created_at": 81.5, "alerts": [{"key": "k"}]}],
    )
    assert found == [
        {"kind": "channel", "asked_at": 5.0, "done_at": 7.0},
        {"kind": "page", "asked_at": 80.0, "done_at": 81.5},
    ]


def test_who_agreed_to_drills_or_does_something_in_one_may_be_invited() -> None:
    drill = replace(GOOD, **AT_A_DRILL, at_drills=[{"codename": "drill-owl", "chat_id": WEI}])
    assert invariants.violations(drill) == []


def test_a_failure_without_a_name_of_a_process_of_ours_is_held_against_it() -> None:
    heard = UnnamedFailures()
    for process, line in (
        ("web", "ERROR django.request: Service Unavailable: /slack/events"),
        ("sandbox", "Traceback (most recent call last):"),
        ("worker", "WARNING workflows.effects: carried out again"),
        ("web", "ERROR django.request: Internal Server Error: /slack/events"),
        ("web", "ERROR integrations.slack.doors.bolt: KeyError in a listener"),
        ("evidence", "Traceback (most recent call last):"),
    ):
        heard.hear(process, line)
    assert [one.says.split(":")[0] for one in heard.violations()] == ["web", "web", "evidence"]
