"""Every command, button, modal, shortcut and event of Slack as every outsider: a private incident looks missing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest

from incidents.models import Event, Incident, Knock
from integrations.slack import fake, listeners
from integrations.slack.interaction import inbox
from integrations.slack.listeners import command_table
from integrations.tests.outsiders import alike
from integrations.tests.outsiders.scene import ANONYMOUS, EXTERNAL, FORMER, GONE, GUEST, LEFT, OUTSIDER, WORD, Scene
from stack.short_runs import WalkPart

WHO: Final = (OUTSIDER, GUEST, EXTERNAL, FORMER, LEFT)
HOW: Final = (
    "add it to integrations/tests/outsiders/test_slack.py, with a value that names an incident: THAT is its codename"
)
N: Final = {"n": 1}
# The value of each button; None if it names no incident.
BUTTONS: Final[Mapping[str, str | None]] = {
    "firekind:declare": None,
    "firekind:declare-lead": None,
    "firekind:declare-type": None,
    "firekind:drills": None,
    "firekind:show-next": "THAT",
    "firekind:retype": "THAT",
    "firekind:retype-type": "major",
    "firekind:retype-meant": "major",
    "firekind:retype-meant-type": "major",
    "firekind:retype-bring": "major",
    "firekind:retype-come": "stay-out",
    "firekind:fill": "THAT|Scribe",
    "firekind:page": "THAT",
    "firekind:acknowledge": "THAT|1",
    "firekind:page-target": "policy/P1",
    "firekind:pick": "THAT",
    "firekind:picked": "THAT",
    "firekind:pick-again": None,
    "firekind:meant": None,
    "firekind:take-lead": "THAT",
    "firekind:undo-retype": "THAT|2",
    "firekind:changes": "THAT|2",
    "firekind:retry": "THAT|1",
    "firekind:let-in": "THAT|1",
    "firekind:turn-away": "THAT|1",
    "firekind:by-hand": "THAT|1",
    "firekind:new-channel": "THAT",
    "firekind:publish": "THAT|1",
    "firekind:task-done": "THAT|1",
    "firekind:task-reassign": "THAT|1",
    **{
        f"firekind:{verb}": "THAT"
        for verb in ("update", "impact", "note", "mitigate", "resolve", "reopen", "cancel", "answer")
    },
}
TEXT: Final = {"text": {"text": {"type": "plain_text_input", "value": "hello"}}}
TO: Final = {"type": {"firekind:retype-type": {"type": "static_select", "selected_option": {"value": "major"}}}}
# The values stored in each modal, and its input; None if it names no incident.
MODALS: Final[Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]] | None]] = {
    "firekind:declare": None,
    "firekind:retype": ({"i": "THAT", "n": 1, "t": "major", "d": "x"}, TO),
    "firekind:say": ({"v": "update", "i": "THAT", "n": 1}, TEXT),
    "firekind:page": ({"i": "THAT", "t": None, "d": None}, {}),
    "firekind:fill": ({"i": "THAT", "r": "Scribe"}, {}),
    "firekind:capture": (
        {"ref": "C1:1.1", "author": "Out", "text": "hello"},
        {"incident": {"incident": {"type": "static_select", "selected_option": {"value": "THAT"}}}},
    ),
    "firekind:task-add": ({"i": "THAT", "p": "during", "l": ""}, TEXT),
    "firekind:task-change": ({"i": "THAT", "n": 1}, {}),
    "firekind:evidence": (
        {"i": "THAT"},
        {"link": {"link": {"type": "url_text_input", "value": "https://example.com"}}},
    ),
    "firekind:open-up": (
        {"i": "THAT"},
        {"summary": {"summary": {"type": "plain_text_input", "value": "A token was public"}}},
    ),
    "firekind:confirm-summary": ({"i": "THAT", "s": 1}, {}),
    "firekind:finding": ({"i": "THAT"}, {"claim": {"claim": {"type": "plain_text_input", "value": "It is the cache"}}}),
}
# The words after a command that is about no incident.
FAR: Final = "z" * 60  # long enough that no schedule's name is similar and gets suggested
ALONE: Final[Mapping[str, str]] = {
    "declare": "",
    "drill": "",
    "replay": "THAT 60",
    "oncall": f"THAT {FAR}",
    "list": "THAT",
    "help": "THAT",
    "access": "THAT because I must look",
    "break-glass": "THAT because help",  # with a whole sentence this is the one way to find out: test_misses
}
SHORTCUTS: Final = {"firekind:declare", "firekind:declare-from", "firekind:capture-this", "firekind:task-of"}
# An event's values apart from its channel and user; None if it names neither channel nor incident.
EVENTS: Final[Mapping[str, Mapping[str, Any] | None]] = {
    "app_home_opened": None,  # test_lists covers what is shown there
    "channel_archive": {},
    "channel_deleted": {},
    "channel_id_changed": None,  # workspaces merge
    "channel_left": None,  # about the app itself
    "channel_rename": None,
    "channel_unarchive": {},
    "group_archive": {},
    "group_deleted": {},
    "group_left": None,
    "group_rename": None,
    "group_unarchive": {},
    "link_shared": {
        "message_ts": "1.1",
        "links": [{"domain": "testserver", "url": "http://testserver/incidents/THAT/"}],
    },
    "member_joined_channel": {},
    "member_left_channel": {},
    "message": {"subtype": "message_deleted", "deleted_ts": "1.1"},
    "reaction_added": {"reaction": "pushpin", "item": {"type": "message", "ts": "1.1"}},
    "reaction_removed": {"reaction": "pushpin", "item": {"type": "message", "ts": "1.1"}},
    "subteam_created": None,
    "subteam_members_changed": None,
    "subteam_updated": None,
    "team_join": None,
    "user_change": None,
}
NUMBERS: Final = re.compile(r"pick:\d+|\bV\w+|\d{10}\.\d+")


@dataclass(frozen=True, slots=True)
class Heard:
    """The response to a person's act in Slack, without the name; ``queries`` represents the time it took."""

    status: int
    body: str
    modal: str
    called: int
    queries: int


@pytest.fixture(autouse=True)
def no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the clean-up at every two-hundredth delivery, which would change the counts."""
    monkeypatch.setattr(inbox, "SWEEP_EVERY", 1 << 60)


def send(scene: Scene, who: str, kind: Any, type: str, payload: dict[str, Any], *, name: str) -> Heard:
    """Send one thing to the door as Slack would, and return the response."""
    slack = scene.house.slack
    slack.workspace.modals.pop(slack.person(who).id, None)
    filled = json.loads(json.dumps(payload).replace("THAT", name)) if name else payload
    before = len(list(slack.calls))
    with alike.statements() as asked:
        response = scene.door.post(fake.PendingDelivery(1, kind, type, filled))
    modal = slack.modal(who) or {}
    said = json.dumps({key: modal.get(key) for key in ("callback_id", "private_metadata", "title", "blocks")})
    body, modal_said = (NUMBERS.sub("", alike.without(one, name or "-")) for one in (response.content.decode(), said))
    return Heard(response.status_code, body, modal_said, len(list(slack.calls)) - before, len(asked))


def base(scene: Scene, who: str, type: str) -> dict[str, Any]:
    slack = scene.house.slack
    user = slack.person(who)
    return {
        "type": type,
        "team": {"id": slack.workspace.team_id},
        "user": {"id": user.id, "username": who, "name": who, "team_id": user.team_id},
        "trigger_id": slack.trigger(user.id),
    }


def test_everything_that_slack_may_send_has_its_row() -> None:
    alone = {one.name for one in command_table.COMMANDS if one.run is not None}
    for there, rows in (
        (set(listeners.BUTTONS), set(BUTTONS)),
        (set(listeners.MODALS), set(MODALS)),
        (set(listeners.SHORTCUTS), set(SHORTCUTS)),
        (set(listeners.EVENTS), set(EVENTS)),
        (alone, set(ALONE)),
    ):
        assert not there - rows, f"{sorted(there - rows)} would not be walked: {HOW}."


def command(scene: Scene, who: str, text: str, *, name: str, channel: str = "lobby") -> Heard:
    Knock.objects.all().delete()  # people may ask only once in a while, whatever it is for
    slack = scene.house.slack
    where = slack.channel(channel)
    given = {
        "command": "/incident",
        "text": text,
        "user_id": slack.person(who).id,
        "user_name": who,
        "channel_id": where.id,
        "channel_name": "privategroup" if where.is_private else where.name,
        "team_id": slack.workspace.team_id,
        "trigger_id": slack.trigger(slack.person(who).id),
    }
    return send(scene, who, "command", "/incident", given, name=name)


def test_no_command_tells_a_private_incident_from_none(scene: Scene, hidden: Incident, part: WalkPart) -> None:
    none = alike.absent(hidden.codename)
    for who in WHO:
        for one in part.of(command_table.COMMANDS):
            text = f"{one.name} {ALONE[one.name] if one.run else 'THAT hello because I say so'}"
            known, unknown = (command(scene, who, text, name=name) for name in (hidden.codename, none))
            assert known == unknown, f"{text} as {who}"
            assert WORD not in known.body + known.modal


def test_the_channel_it_had_is_one_like_any_other_of_such_a_name(
    scene: Scene, hidden: Incident, part: WalkPart
) -> None:
    old = scene.house.channel(hidden, 1)
    slack = scene.house.slack
    elsewhere = slack.add_channel("inc-elsewhere", members=[slack.person(who).id for who in WHO]).name
    for who in WHO:
        for one in part.of(command_table.COMMANDS):
            text = one.name if one.name != "declare" else "help"
            there, other = (command(scene, who, text, name="", channel=where) for where in (old, elsewhere))
            assert (there.status, there.body, there.modal) == (other.status, other.body, other.modal), (
                f"{text} as {who}"
            )


def test_no_button_tells_them_apart(scene: Scene, hidden: Incident, part: WalkPart) -> None:
    none = alike.absent(hidden.codename)
    for who in WHO:
        for action_id, value in part.of(BUTTONS.items()):
            if value is not None and action_id in listeners.BUTTONS:
                known, unknown = (press(scene, who, action_id, value, name=name) for name in (hidden.codename, none))
                assert known == unknown, f"{action_id} as {who}"
                assert WORD not in known.body + known.modal


def press(scene: Scene, who: str, action_id: str, value: str, *, name: str) -> Heard:
    stamp = scene.house.slack.next_ts()
    action: dict[str, Any] = {
        "type": "button",
        "action_id": action_id,
        "block_id": "b:0",
        "action_ts": stamp,
        "value": value,
    }
    if action_id in ("firekind:pick", "firekind:picked"):
        command(scene, who, "update hello", name="")
        action |= {"block_id": f"firekind:pick:{_waiting()}", "selected_option": {"value": value}}
    payload = base(scene, who, "block_actions") | {"actions": [action]}
    if "THAT" not in value:  # a choice in an open modal, which stores the codename
        callback = "firekind:page" if "page" in action_id else "firekind:retype"
        payload["view"] = view(callback)
    return send(scene, who, "interaction", "block_actions", payload, name=name)


def _waiting() -> int:
    from integrations.slack.models import Delivery

    return int(Delivery.objects.latest("pk").pk)


def view(callback: str) -> dict[str, Any]:
    row = MODALS[callback]
    assert row is not None
    kept, values = row
    filled = {"id": "V1", "hash": "1", "type": "modal", "callback_id": callback, "state": {"values": values}}
    return {**filled, "private_metadata": json.dumps(kept), "blocks": [{"type": "input", "block_id": "text"}]}


def test_no_modal_tells_them_apart(scene: Scene, hidden: Incident, part: WalkPart) -> None:
    none = alike.absent(hidden.codename)
    for who in WHO:
        for callback, row in part.of(MODALS.items()):
            if row is not None and callback in listeners.MODALS:
                known, unknown = (submit(scene, who, callback, name=name) for name in (hidden.codename, none))
                assert known == unknown, f"{callback} as {who}"
                assert "No such incident" in known.body, f"{callback} as {who}"


def submit(scene: Scene, who: str, callback: str, *, name: str) -> Heard:
    payload = base(scene, who, "view_submission") | {"view": view(callback)}
    return send(scene, who, "interaction", "view_submission", payload, name=name)


@pytest.mark.parametrize("callback", ["firekind:capture-this"])
def test_a_shortcut_in_the_channel_it_had_is_one_anywhere(callback: str, scene: Scene, hidden: Incident) -> None:
    slack = scene.house.slack
    elsewhere = slack.add_channel("elsewhere").id
    old = slack.channel(scene.house.channel(hidden, 1)).id
    private = slack.channel(scene.house.channel(hidden)).id
    for who in WHO:
        heard = []
        for channel in (old, private, elsewhere):
            used = {"callback_id": callback, "action_ts": slack.next_ts(), "channel": {"id": channel}}
            message = {"type": "message", "user": slack.person(who).id, "ts": "1.1", "text": "hello"}
            payload = base(scene, who, "message_action") | used | {"message_ts": "1.1", "message": message}
            got = send(scene, who, "interaction", "message_action", payload, name="")
            heard.append((got.status, got.body, got.modal.replace(channel, "C")))
        assert heard[0] == heard[1] == heard[2], who


def test_no_event_of_an_outsider_writes_on_it_or_is_answered_otherwise(scene: Scene, hidden: Incident) -> None:
    slack = scene.house.slack
    elsewhere = slack.add_channel("elsewhere").id
    old = slack.channel(scene.house.channel(hidden, 1)).id
    verbs = ("archive", "deleted", "unarchive")
    quiet = {f"{kind}_{verb}" for kind in ("channel", "group") for verb in verbs}  # recorded for its people
    looks = {f"{kind}_unarchive" for kind in ("channel", "group")}  # whether we should join again
    for n, (type, rest) in enumerate(EVENTS.items()):
        if rest is None or type not in listeners.EVENTS:
            continue
        before, answers = Event.objects.filter(incident=hidden).count(), []
        calls, written = len(list(slack.calls)), len(slack.calls.writes())
        for channel in (old, elsewhere):
            event = {"type": type, "user": slack.person(OUTSIDER).id, "channel": channel, "event_ts": "1.1", **rest}
            if "item" in event:
                event["item"] = {**event["item"], "channel": channel}
            payload = {"type": "event_callback", "event_id": f"Ev{n}{channel}", "event": event}
            got = send(
                scene, OUTSIDER, "event", type, {**payload, "team_id": slack.workspace.team_id}, name=hidden.codename
            )
            answers.append((got.status, got.body))
        assert answers[0] == answers[1], type
        assert len(slack.calls.writes()) == written, f"Slack is told something after {type}"
        assert type in looks or len(list(slack.calls)) == calls, f"Slack is asked something after {type}"
        assert type in quiet or Event.objects.filter(incident=hidden).count() == before, type


def test_who_is_unknown_or_gone_has_no_client() -> None:
    """A person unknown to Slack sends no signed request, and one who left there has no client."""
    assert {ANONYMOUS, GONE}.isdisjoint(WHO)
