"""Files of people and of the app: who may read them, where they are shown, and what remains after deletion."""

from __future__ import annotations

import pytest

from integrations.slack import fake
from integrations.slack.fake.server import transfers
from integrations.slack.fake.tests.furnished import TOKEN, small


def test_a_file_of_a_channel_is_seen_by_the_app_where_it_is() -> None:
    slack = small()
    slack.acts.share("ada", "ours", "cpu.folded", b"a;b 1\n", text="look")
    shared = slack.messages("ours")[-1].extra["files"][0]
    about = slack.ok("files.info", file=shared["id"])["file"]
    assert (about["name"], about["size"], about["shares"]["public"]["C0OURS"][0]["ts"]) == (
        "cpu.folded",
        6,
        slack.messages("ours")[-1].ts,
    )
    assert transfers.download(slack, shared["id"], token=TOKEN).body == b"a;b 1\n"


def test_a_file_elsewhere_is_not_there_for_the_app() -> None:
    slack = small()
    slack.acts.share("ada", "others", "cpu.folded", b"a 1\n")
    id = slack.messages("others")[-1].files[0]
    assert slack.error("files.info", file=id) == "file_not_found"
    assert slack.error("files.info", file=slack.acts.upload("ada", "mine", b"1")) == "file_not_found"


@pytest.mark.parametrize("token", ["", "xoxb-somebody-else"])
def test_whoever_may_not_read_files_is_sent_to_the_sign_in(token: str) -> None:
    slack = small()
    answer = transfers.download(slack, slack.acts.upload("ada", "cpu.folded", b"a 1\n"), token=token)
    assert (answer.status, answer.body) == (302, b"")
    assert answer.headers["Content-Type"] == "text/html"


def test_a_deleted_picture_leaves_a_stone() -> None:
    slack = small()
    given = slack.ok("files.getUploadURLExternal", filename="flame.png", length=3)
    assert transfers.upload(slack, given["file_id"], b"abcd").status == 400
    assert transfers.upload(slack, given["file_id"], b"abc").status == 200
    slack.ok("files.completeUploadExternal", files=[{"id": given["file_id"]}], channel_id="C0OURS")
    slack.ok("files.delete", file=given["file_id"])
    assert slack.messages("ours")[-1].extra["files"] == [{"id": given["file_id"], "mode": "tombstone"}]
    assert slack.error("files.info", file=given["file_id"]) == "file_deleted"


def test_a_modal_tells_which_files_were_put_into_it() -> None:
    slack = small()
    label = {"type": "plain_text", "text": "File"}
    block = {"type": "input", "block_id": "file", "label": label, "element": {"type": "file_input", "action_id": "f"}}
    view = {"type": "modal", "title": label, "submit": label, "blocks": [block]}
    command = slack.acts.command("ada", "ours", "/incident evidence")
    slack.ok("views.open", trigger_id=command.payload["trigger_id"], view=view)
    with pytest.raises(fake.Incomplete):
        slack.acts.submit("ada", {})
    id = slack.acts.upload("ada", "cpu.folded", b"a 1\n")
    told = slack.acts.submit("ada", {"file": {"f": [id]}}).payload["view"]["state"]["values"]["file"]["f"]
    assert [(one["id"], one["name"]) for one in told["files"]] == [(id, "cpu.folded")]
    assert slack.ok("files.info", file=id)["file"]["size"] == 4
