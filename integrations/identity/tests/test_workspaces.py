"""Sign-in with Slack: only from the app's own workspace, whether settings name it or Slack is asked."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.conf import settings as project
from pytest_django.fixtures import Settings

from incidents.models import Person
from incidents.people import person_matching
from incidents.people.person_matching import ChatProfile
from integrations.identity.providers import joining
from integrations.identity.providers.joining import SLACK_TEAM, SLACK_USER, SignInRefused
from integrations.identity.providers.provider import Provider
from workflows import ports
from workflows.chat_port import Chat
from workflows.ports import VendorError

OURS, THEIRS = "T0OURS", "T0THEIRS"
SLACK = Provider(key="slack", name="Slack", issuer="https://slack.com", client_id="1.2", client_secret="between us")
GRACE: dict[str, Any] = {"sub": "UGRACE", "email": "grace@acme.example", "email_verified": True}


class Away:
    """A Slack that does not answer."""

    @property
    def workspace_id(self) -> str:
        raise VendorError("Slack asks us to wait.", code="ratelimited", method="auth.test", retryable=True)


IN_OURS = SimpleNamespace(workspace_id=OURS)


@pytest.mark.parametrize("named", [OURS, ""])
@pytest.mark.parametrize("claimed", [OURS, THEIRS, "", None])
@pytest.mark.parametrize("chat", [IN_OURS, SimpleNamespace(workspace_id=""), Away(), None])
@pytest.mark.parametrize("linked", [False, True])
def test_nobody_comes_in_from_another_workspace(
    named: str, claimed: str | None, chat: object, linked: bool, grace: Person, settings: Settings
) -> None:
    """Whatever we know of our workspace, a claim that cannot be compared is refused, even if already linked."""
    assert project.FIREKIND.slack is not None
    settings.FIREKIND = replace(project.FIREKIND, slack=replace(project.FIREKIND.slack, team_id=OURS))
    if linked:
        joining.user_of(SLACK, GRACE | {SLACK_TEAM: OURS})
    settings.FIREKIND = replace(project.FIREKIND, slack=replace(project.FIREKIND.slack, team_id=named))
    claims = GRACE | ({} if claimed is None else {SLACK_TEAM: claimed})
    with ports.using(chat=cast("Chat | None", chat)):
        if claimed == OURS and (named or chat is IN_OURS):
            assert joining.user_of(SLACK, claims).email == grace.email
        else:
            with pytest.raises(SignInRefused):
                joining.user_of(SLACK, claims)


def test_who_has_another_id_in_another_workspace_signs_in_there_and_back_here(
    grace: Person, settings: Settings
) -> None:
    """Another workspace with the same people under different ids is connected, and then the first one again."""
    assert project.FIREKIND.slack is not None
    settings.FIREKIND = replace(project.FIREKIND, slack=replace(project.FIREKIND.slack, team_id=""))
    for team, id in ((OURS, "UGRACE"), (THEIRS, "U9GRACE"), (OURS, "UGRACE")):
        person_matching.follow([ChatProfile(id, "Grace", grace.email)])
        claims = GRACE | {"sub": id, SLACK_TEAM: team, SLACK_USER: id}
        with ports.using(chat=cast("Chat", SimpleNamespace(workspace_id=team))):
            assert joining.user_of(SLACK, claims).person == grace
    with ports.using(chat=cast("Chat", IN_OURS)), pytest.raises(SignInRefused):
        joining.user_of(SLACK, GRACE | {"sub": "U9GRACE", SLACK_TEAM: OURS, SLACK_USER: "U9GRACE"})
