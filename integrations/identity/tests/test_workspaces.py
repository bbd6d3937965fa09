"""Signing in with Slack: into the app's own workspace alone, whether settings name it or Slack is asked."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.conf import settings as project
from pytest_django.fixtures import Settings

from incidents.models import Person
from integrations.identity.providers import joining
from integrations.identity.providers.joining import SLACK_TEAM, SignInRefused
from integrations.identity.providers.provider import Provider
from workflows import ports
from workflows.ports import Chat, VendorError

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
    """Whatever is known of our own: what cannot be compared is refused, also for who came in before."""
    assert project.FIREKIND.slack is not None
    settings.FIREKIND = replace(project.FIREKIND, slack=replace(project.FIREKIND.slack, team_id=OURS))
    if linked:
        joining.whom(SLACK, GRACE | {SLACK_TEAM: OURS})
    settings.FIREKIND = replace(project.FIREKIND, slack=replace(project.FIREKIND.slack, team_id=named))
    claims = GRACE | ({} if claimed is None else {SLACK_TEAM: claimed})
    with ports.using(chat=cast("Chat | None", chat)):
        if claimed == OURS and (named or chat is IN_OURS):
            assert joining.whom(SLACK, claims).email == grace.email
        else:
            with pytest.raises(SignInRefused):
                joining.whom(SLACK, claims)
