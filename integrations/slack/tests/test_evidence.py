"""Evidence from Slack: a modal, a link, and the files of messages. The worker that reads a file downloads it, once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest
from django.utils import timezone

from evidence.intake import digesting, receiving
from evidence.models import Evidence
from evidence.models.evidence import State
from incidents.models import Incident
from integrations.slack import fake
from integrations.slack.tests.door import Door
from integrations.tests.test_by_hand import direct
from workflows import ports
from workflows.planning.captures import ProfileSource
from workflows.ports import Captured

FOLDED = b"main;serve;price_basket 61\nmain;serve;render 20\nmain;idle 19\n"


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def read(incident: Incident) -> list[Evidence]:
    """Let the worker read the waiting files."""
    for one in digesting.waiting(at=timezone.now()):
        digesting.digest(one, at=timezone.now())
    return list(Evidence.objects.filter(incident=incident).order_by("n"))


def test_a_file_in_the_modal_becomes_evidence_whose_sentence_comes_in_the_channel(
    door: Door, incident: Incident, channel: str
) -> None:
    assert door.command("ann", "evidence", channel=channel) == ""
    assert "No evidence yet." in door.reads(door.modal("ann"))
    file = door.slack.acts.upload("ann", "cpu.folded", FOLDED)
    door.submit("ann", files=[file], title="CPU of checkout", phase="during")
    assert "posted in the channel" in door.reads(door.modal("ann"))
    (waiting,) = Evidence.objects.all()
    assert (waiting.state, waiting.original) == (State.READING, ""), "nothing was fetched while Ann waited"
    (found,) = read(incident)
    assert (found.state, found.title, found.phase) == (State.READY, "CPU of checkout", "during")
    assert (found.added_by, found.file_name, found.size) == (door.house.person("ann"), "cpu.folded", len(FOLDED))
    door.house.settle(incident)
    assert any("price_basket" in text for text in door.slack.texts(channel))
    door.command("ann", "evidence", channel=channel)
    assert "CPU of checkout" in door.reads(door.modal("ann"))


def test_neither_a_file_nor_a_link_is_said_under_the_field(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "evidence", channel=channel)
    assert door.submit("ann")["response_action"] == "errors"
    assert not Evidence.objects.exists()


def test_a_link_is_kept_and_not_fetched(door: Door, incident: Incident, channel: str) -> None:
    said = door.command("ann", "evidence https://grafana.example/d/7 p99 of checkout", channel=channel)
    assert "Link added" in said
    door.command("ann", "evidence", channel=channel)
    door.submit("ann", link="https://grafana.example/d/8")
    one, other = read(incident)
    assert (one.kind, one.link, one.title) == ("link", "https://grafana.example/d/7", "p99 of checkout")
    assert (other.link, other.state) == ("https://grafana.example/d/8", State.READY)


@pytest.mark.parametrize("said", ["grafana", "ftp://files.example/x", "javascript://x"])
def test_what_is_no_link_is_refused_with_words(door: Door, incident: Incident, channel: str, said: str) -> None:
    assert "https://" in door.command("ann", f"evidence {said}", channel=channel)
    assert not Evidence.objects.exists()


def test_the_files_of_a_captured_message_are_brought_once(door: Door, incident: Incident, channel: str) -> None:
    ts = door.slack.acts.share("ben", channel, "cpu.folded", FOLDED, text="look at this")
    door.slack.acts.react("ann", channel, ts, "pushpin")
    door.slack.acts.react("lea", channel, ts, "pushpin")
    assert set(door.deliver()) == {200}
    door.shortcut("ben", "firekind:capture-this", channel=channel, ts=ts)
    (found,) = read(incident)
    assert (found.title, found.added_by) == ("cpu.folded", door.house.person("ann"))
    assert found.state == State.READY
    assert ("captured", "look at this") in door.told(incident)


def test_a_message_from_elsewhere_brings_its_files_along(door: Door, incident: Incident) -> None:
    door.slack.acts.invite("out", "lobby", ["firekind"])
    ts = door.slack.acts.share("out", "lobby", "cpu.folded", FOLDED, text="from the other team")
    door.shortcut("out", "firekind:capture-this", channel="lobby", ts=ts)
    door.submit("out", incident=incident.codename)
    (found,) = read(incident)
    assert (found.state, found.file_name) == (State.READY, "cpu.folded")


def brought(door: Door, channel: str) -> str:
    """Return a file that is submitted in the modal but not downloaded yet."""
    door.command("ann", "evidence", channel=channel)
    file = door.slack.acts.upload("ann", "cpu.folded", FOLDED)
    door.submit("ann", files=[file])
    return file


def test_slack_being_away_costs_nothing_but_time(door: Door, incident: Incident, channel: str) -> None:
    brought(door, channel)
    door.slack.faults.add("server_error", method="files.info", times=1)
    door.slack.faults.add("drop", method="files.download", times=1)
    for _ in range(2):
        read(incident)
        Evidence.objects.update(leased_until=None)
    (found,) = read(incident)
    assert (found.state, found.unanswered) == (State.READY, 1)


def test_a_file_that_is_gone_is_said_to_be_gone(door: Door, incident: Incident, channel: str) -> None:
    door.slack.workspace.files[brought(door, channel)].state = "deleted"
    (found,) = read(incident)
    assert found.state == State.FAILED
    assert "deleted from Slack" in found.says


def test_a_sign_in_page_is_not_taken_for_the_file(
    door: Door, incident: Incident, channel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought(door, channel)
    monkeypatch.setattr(fake.FakeSlack, "may", lambda self, token, scope: False)
    (found,) = read(incident)
    assert (found.state, found.original) == (State.FAILED, "")
    assert "files:read" in found.says
    monkeypatch.undo()  # the app was reinstalled
    assert receiving.read_again(found, by=None)
    (found,) = read(incident)
    assert (found.state, found.size) == (State.READY, len(FOLDED))


def test_a_file_larger_than_is_taken_is_not_fetched(
    door: Door, incident: Incident, channel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.slack.workspace.files[brought(door, channel)].length = 1 << 40
    (found,) = read(incident)
    assert found.state == State.FAILED
    assert "MiB" in found.says


def test_whoever_may_not_see_it_brings_nothing(door: Door, incident: Incident, channel: str) -> None:
    incident = door.house.retype(incident, "security", by="ann")
    said = door.command("out", f"evidence {incident.codename} https://grafana.example/d/7")
    assert "no" in said.lower()
    assert not Evidence.objects.exists()


def test_capture_without_sources_says_so(door: Door, incident: Incident, channel: str) -> None:
    assert "Nothing can be captured yet" in door.command("ann", "capture", channel=channel)
    assert "There is no profile source" in door.command("ann", "capture checkout cpu 5", channel=channel)


class Profiler:
    """One source, from which these tests never capture."""

    def sources(self) -> Sequence[ProfileSource]:
        return [ProfileSource("checkout-api", ("cpu", "heap"))]

    def capture(self, source: str, kind: str, *, seconds: int, at: datetime) -> Captured:
        raise NotImplementedError


def test_capture_asks_for_a_profile_and_lists_where_from(door: Door, incident: Incident, channel: str) -> None:
    with ports.using(chat=door.house.chat, profiler=Profiler()):
        assert "`checkout-api`  cpu, heap" in door.command("ann", "capture", channel=channel)
        assert "5 s of CPU" in door.command("ann", "capture checkout-api 5s cpu", channel=channel)
        assert "not 'gpu'" in door.command("ann", "capture checkout-api gpu", channel=channel)
    asked = incident.events.get(kind="asked")
    assert (asked.data["source"], asked.data["kind"], asked.data["seconds"]) == ("checkout-api", "cpu", 5)
    assert asked.source == "slack"


def test_what_could_not_be_read_is_told_to_whoever_brought_it_alone(
    door: Door, incident: Incident, channel: str
) -> None:
    before = len(door.slack.texts(channel))
    door.command("ann", "evidence", channel=channel)
    file = door.slack.acts.upload("ann", "notes.txt", b"Dear all, the server is slow.\n")
    door.submit("ann", files=[file])
    (found,) = read(incident)
    assert found.state == State.KEPT
    door.house.settle(incident)
    assert len(door.slack.texts(channel)) == before
    told = direct(door.house, "ann")
    assert "evidence 1 could not be read" in told
    assert "Withdraw" in told
    assert incident.title not in told
    assert direct(door.house, "ben") == ""


def test_it_is_told_nobody_who_lost_access_meanwhile(door: Door, incident: Incident, channel: str) -> None:
    door.slack.acts.join("eve", channel)
    door.command("eve", "evidence", channel=channel)
    door.submit("eve", files=[door.slack.acts.upload("eve", "notes.txt", b"Dear all\n")])
    door.house.retype(incident, "security", by="ann")
    (found,) = read(incident)
    assert found.state == State.KEPT
    door.house.settle(incident)
    assert direct(door.house, "eve") == ""
