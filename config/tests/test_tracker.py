"""The settings of an issue tracker: all of them, or a sentence that says what is wrong."""

from __future__ import annotations

import pytest

from config.parsing import tracker
from config.parsing.values import SettingError

GIVEN = {"TRACKER": "github", "TRACKER_TOKEN": "t", "TRACKER_PROJECT": "acme/ops"}


def test_a_whole_one_is_read_and_none_is_none() -> None:
    more = {"TRACKER_PEOPLE": "ana@example.com=ana-gh, ben@example.com=712020:ab", "TRACKER_WEBHOOK_SECRETS": "a, b"}
    found = tracker.read(GIVEN | more)
    assert found is not None
    assert found.people == {"ana@example.com": "ana-gh", "ben@example.com": "712020:ab"}
    assert found.webhook_secrets == ("a", "b")
    assert (found.private_project, found.url) == ("", "")
    assert tracker.read({}) is None
    assert "'t'" not in repr(found)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"TRACKER": "trello"}, "TRACKER must be"),
        ({"TRACKER_PROJECT": "ops"}, "owner/repository"),
        ({"TRACKER": "jira", "TRACKER_PROJECT": "OPS"}, "TRACKER_URL is not set"),
        ({"TRACKER_PRIVATE_PROJECT": "acme/ops"}, "name a project that only"),
        ({"TRACKER_PRIVATE_PROJECT": "Acme/OPS"}, "name a project that only"),
        ({"TRACKER_URL": "http://github.example"}, "https"),
        ({"TRACKER_PEOPLE": "ana"}, "email=account"),
    ],
    ids=["kind", "project", "site", "same-project", "same-project-in-capitals", "plain", "people"],
)
def test_what_is_wrong_is_said(given: dict[str, str], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        tracker.read(GIVEN | given)
