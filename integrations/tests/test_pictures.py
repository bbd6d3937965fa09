"""Images below messages about evidence: text first, shown once, deleted when the incident becomes private."""

from __future__ import annotations

from typing import Literal

import pytest
from django.utils import timezone

from evidence.intake import pictures, receiving, withdrawing
from evidence.intake.pictures import NoPicture, Picture
from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.fake import Message
from integrations.tests.house import House
from workflows.effects import effect_queue
from workflows.models import Effect
from workflows.performing import perform
from workflows.planning.actions import EVIDENCE
from workflows.reconcile import reconcile
from workflows.status import manual_steps, progress

PNG = b"\x89PNG picture"
SAYS = "61 % of CPU samples pass through `price_basket`"
Fault = Literal["fatal_error", "drop", "drop_before", "server_error", "ratelimited"]
FAULTS: list[Fault] = ["fatal_error", "drop", "drop_before", "server_error", "ratelimited"]
STEPS = ["files.getUploadURLExternal", "files.upload", "files.completeUploadExternal", "chat.postMessage"]


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Draw nothing, because drawing has its own tests. Returns the numbers whose image was requested."""
    asked: list[int] = []

    def draw(incident_id: int, n: int) -> Picture:
        asked.append(n)
        return Picture(f"evidence-{n}.png", "CPU of checkout", f"CPU of checkout: {SAYS}".replace("`", ""), PNG)

    monkeypatch.setattr(pictures, "draw", draw)
    return asked


def measured(house: House, incident: Incident) -> Evidence:
    """Return a profile that was read."""
    found = Evidence(
        incident=incident,
        kind=Kind.PROFILE,
        state=State.READY,
        title="CPU of checkout",
        says=SAYS,
        origin={"via": "upload"},
        tree="trees/of/a-test",
        added_by=house.person("dee"),
        added_at=house.now(),
    )
    receiving.add(found, by=None)
    receiving.note(found, at=timezone.now())
    return found


def shown(house: House, channel: str) -> list[Message]:
    """Return the channel's messages with a file that was not deleted."""
    messages = house.slack.messages(channel)
    return [one for one in messages if any(file.get("mode") == "hosted" for file in one.extra.get("files", []))]


def test_the_picture_stands_below_the_sentence(house: House) -> None:
    incident = house.declare()
    found = measured(house, incident)
    house.slack.calls.clear()
    incident = house.settle(incident)
    (picture,) = shown(house, house.channel(incident))
    told = house.slack.channel(house.channel(incident)).messages[picture.thread_ts]
    assert "61 % of CPU samples pass through `price_basket`" in told.text
    assert any(f"/evidence/{found.n}/" in str(block) for block in [*told.blocks, *told.attachments])
    (file,) = picture.extra["files"]
    assert (file["name"], file["title"], file["alt_txt"]) == (
        "evidence-1.png",
        "CPU of checkout",
        "CPU of checkout: 61 % of CPU samples pass through price_basket",
    )
    assert house.slack.workspace.files[file["id"]].content == PNG
    order = [call.method for call in house.slack.calls.writes()]
    assert order.index("chat.postMessage") < order.index("files.completeUploadExternal")
    house.slack.calls.clear()
    house.settle(incident)
    assert not list(house.slack.calls)


def test_what_has_no_picture_gets_none(house: House) -> None:
    incident = house.declare()
    link = "https://grafana.example/d/1"
    receiving.add_link(incident, link=link, title="", by=house.person("dee"), via="link", at=house.now())
    incident = house.settle(incident)
    assert not shown(house, house.channel(incident))
    assert any("grafana.example" in text for text in house.slack.texts(house.channel(incident)))


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("step", STEPS)
def test_whatever_goes_wrong_it_is_shown_once(house: House, step: str, kind: Fault) -> None:
    incident = house.declare()
    measured(house, incident)
    house.slack.faults.add(kind, method=step, times=1)
    incident = house.settle(incident)
    assert len(shown(house, house.channel(incident))) == 1
    assert sum("price_basket" in text for text in house.slack.texts(house.channel(incident))) == 1
    assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()


def test_a_worker_that_dies_between_the_call_and_its_record_shows_nothing_twice(house: House) -> None:
    incident = house.declare()
    measured(house, incident)
    for kind, queue in (("upload", EVIDENCE), ("picture", "effects")):
        _until_ready(house, incident, kind)
        (work,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=[kind])
        perform._outcome(house.chat, work)  # the call is made, but never recorded
        house.hurry(incident)
        perform.drain(incident.pk, queue=queue, side_by_side=False)
    incident = house.settle(incident)
    assert len(shown(house, house.channel(incident))) == 1
    assert house.slack.calls.count("files.completeUploadExternal") == 1


def test_a_picture_that_slack_is_still_sharing_is_not_shown_again(house: House, drawn: list[int]) -> None:
    incident = house.declare()
    measured(house, incident)
    _until_ready(house, incident, "picture")
    perform.drain(incident.pk, queue=EVIDENCE, side_by_side=False)
    (work,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=["picture"])
    perform._outcome(house.chat, work)
    (file,) = house.slack.workspace.files.values()
    file.shares, file.channels = {}, []  # Slack updates the file's own data late
    incident = house.settle(incident)
    assert len(shown(house, house.channel(incident))) == 1
    assert drawn == [1]


def _until_ready(house: House, incident: Incident, kind: str) -> None:
    """Do everything except this kind."""
    reconcile.reconcile(incident.pk, at=timezone.now())
    kinds = [name for name in effect_queue.HASTY if name != kind]
    while claimed := effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=kinds):
        perform.perform(house.chat, claimed[0], kinds=[])


def test_an_upload_that_ran_out_before_it_was_shown_is_sent_up_anew(house: House, drawn: list[int]) -> None:
    incident = house.declare()
    measured(house, incident)
    _until_ready(house, incident, "picture")
    perform.drain(incident.pk, queue=EVIDENCE, side_by_side=False)
    for file in house.slack.workspace.files.values():
        file.state = "waiting"
    incident = house.settle(incident)
    assert len(shown(house, house.channel(incident))) == 1
    assert drawn == [1, 1]


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "files.completeUploadExternal"])
def test_a_workspace_without_files_still_gets_the_words(house: House, step: str) -> None:
    incident = house.declare()
    measured(house, incident)
    house.slack.faults.add("error", method=step, error="file_uploads_disabled")
    incident = house.settle(incident)
    texts = house.slack.texts(house.channel(incident))
    assert any("price_basket" in text for text in texts)
    assert not any("Could not" in text for text in texts), "a picture that is missing is no news for everybody"
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert failed.can_retry
    house.slack.faults.clear()
    assert progress.retry(failed.id, incident, by=house.person("dee"), at=timezone.now())
    incident = house.settle(incident)
    assert len(shown(house, house.channel(incident))) == 1


def test_what_cannot_be_drawn_leaves_the_words_alone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(incident_id: int, n: int) -> Picture:
        raise NoPicture("It could not be drawn.")

    monkeypatch.setattr(pictures, "draw", draw)
    incident = house.declare()
    measured(house, incident)
    incident = house.settle(incident)
    assert any("price_basket" in text for text in house.slack.texts(house.channel(incident)))
    assert [one.kind for one in progress.of(incident).effects if one.state == "failed"] == ["upload"]


def test_when_the_talk_turns_private_the_pictures_go_with_the_words(house: House) -> None:
    incident = house.declare()
    measured(house, incident)
    incident = house.settle(incident)
    house.slack.calls.clear()
    incident = house.retype(incident, "security")
    old, new = house.channel(incident, 1), house.channel(incident, 2)
    assert not shown(house, old)
    assert "price_basket" not in " ".join(house.slack.texts(old))
    assert house.slack.channel(old).is_archived
    assert all(file.state == "deleted" and not file.content for file in house.slack.workspace.files.values())
    assert house.slack.calls.count("files.delete") == 1
    measured(house, incident)
    incident = house.settle(incident)
    assert not shown(house, old)
    assert len(shown(house, new)) == 1
    house.slack.calls.clear()
    house.settle(incident)
    assert not list(house.slack.calls)


def test_the_plan_says_that_pictures_are_deleted(house: House) -> None:
    from workflows.reconcile import retyping

    incident = house.declare()
    measured(house, incident)
    incident = house.settle(incident)
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
    assert "- delete the picture of evidence 1" in [str(line) for line in plan.lines]


def test_a_picture_under_way_while_the_talk_turns_private_is_deleted_after(house: House) -> None:
    incident = house.declare()
    measured(house, incident)
    _until_ready(house, incident, "picture")
    perform.drain(incident.pk, queue=EVIDENCE, side_by_side=False)
    (work,) = effect_queue.claim(incident.pk, at=timezone.now(), limit=1, kinds=["picture"])
    outcome = perform._outcome(house.chat, work)
    assert outcome is not None
    lifecycle.retype(incident, to=house.type("security"), by=house.person("dee"), at=timezone.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    old = house.slack.channel(house.channel(incident, 1))
    assert not old.is_archived, "it waits for the picture"
    before = Incident.objects.get(pk=incident.pk).revision
    effect_queue.record_done(work, outcome, at=timezone.now())
    assert Incident.objects.get(pk=incident.pk).revision > before, "it is planned anew without anybody's help"
    incident = house.settle(incident)
    assert not shown(house, house.channel(incident, 1))
    assert old.is_archived


def test_what_cannot_be_deleted_is_told_in_the_private_room_alone(house: House) -> None:
    incident = house.declare()
    measured(house, incident)
    incident = house.settle(incident)
    house.slack.faults.add("error", method="files.delete", times=1, error="cant_delete_file")
    incident = house.retype(incident, "security")
    assert any("Could not delete" in text for text in house.slack.texts(house.channel(incident, 2)))
    assert not any("Could not" in text for text in house.slack.texts(house.channel(incident, 1)))
    (failed,) = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert progress.retry(failed.id, incident, by=house.person("dee"), at=timezone.now())
    incident = house.settle(incident)
    assert not shown(house, house.channel(incident, 1))


def test_a_picture_that_could_not_be_deleted_is_deleted_by_hand(house: House) -> None:
    incident = house.declare()
    measured(house, incident)
    incident = house.settle(incident)
    (file,) = incident.resources.filter(kind="picture").values_list("external__file", flat=True)
    house.slack.faults.add("error", method="files.delete", times=1, error="cant_delete_file")
    incident = house.retype(incident, "security")
    (waits,) = progress.of(incident).by_hand
    with pytest.raises(lifecycle.Refused, match="still there"):
        manual_steps.done(waits.effect, incident, by=house.person("dee"), at=timezone.now())
    house.chat.delete_file(file)
    manual_steps.done(waits.effect, incident, by=house.person("dee"), at=timezone.now())
    assert not progress.of(house.settle(incident)).by_hand


def test_withdrawing_evidence_takes_its_picture_back(house: House) -> None:
    incident = house.declare()
    found = measured(house, incident)
    incident = house.settle(incident)
    withdrawing.withdraw(found, by=house.person("dee"), at=timezone.now())
    incident = house.settle(incident)
    assert not shown(house, house.channel(incident))
    assert "price_basket" not in " ".join(house.slack.texts(house.channel(incident)))
