"""A second Firekind installation, with its own database, secret and Slack app, on the same vendors."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from django.conf import settings
from django.db import connection, transaction
from django.test import override_settings

from integrations.pagerduty.tests.straight import SETUP, pager_on
from integrations.slack import fake
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from integrations.tests.duty import Duty
from integrations.tests.house import House
from workflows import ports
from workflows.usergroups import workspace_cache

BOT: Final = "firekind-staging"
TOKEN: Final = "xoxb-staging"
CODENAMES: Final = ("amber-otter", "calm-heron", "brave-lynx", "quiet-ibis")
SEQUENCES: Final = (
    "SELECT format('%I.%I', schemaname, sequencename), last_value FROM pg_sequences WHERE last_value IS NOT NULL"
)


@contextmanager
def same_codenames() -> Iterator[None]:
    """Make every installation draw the same codenames in the same order."""
    given: Any = SETUP  # has the fields of the settings
    firekind = replace(settings.FIREKIND, codenames=CODENAMES, pagerduty=given)
    with override_settings(FIREKIND=firekind):
        yield


@contextmanager
def elsewhere() -> Iterator[None]:
    """Run as another installation for a block: what it created outside stays, and its database is gone afterwards.

    Its row numbers are rolled back too, so that this installation issues the same ones again.
    """
    numbers = _numbers()
    firekind = replace(settings.FIREKIND, base_url="https://staging.example")
    with override_settings(SECRET_KEY="another " * 8, FIREKIND=firekind), transaction.atomic():
        yield
        transaction.set_rollback(True)
    with connection.cursor() as cursor:
        for name, last in numbers:
            cursor.execute("SELECT setval(%s, %s)", [name, last])


@contextmanager
def another_firekind(duty: Duty) -> Iterator[Duty]:
    """Run as the other Firekind of a workspace and an account for a block."""
    with elsewhere():
        made = _moved_in(duty)
        with ports.using(chat=made.house.chat, pager=made.pager):
            workspace_cache.refresh(everybody=True)
            yield made
    workspace_cache.refresh(everybody=True)


def _moved_in(duty: Duty) -> Duty:
    slack = duty.house.slack
    if not any(one.handle == BOT for one in slack.workspace.people.values()):
        bot = slack.add_app(BOT, token=TOKEN)
        slack.channel("incidents").members.append(bot.id)
    wire = StraightWire(slack, token=TOKEN)
    chat = SlackChat(wire, identity=Identity(wire))
    pager = pager_on(duty.account, routes=duty.pager.routes)
    return Duty(House(slack, chat, duty.house.clock), duty.account, pager)


def _numbers() -> list[tuple[str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(SEQUENCES)
        return list(cursor.fetchall())


@dataclass(frozen=True, slots=True)
class Belongings:
    """What another installation has outside, in its current state."""

    channels: dict[str, fake.Channel]
    messages: dict[str, list[dict[str, Any]]]
    pages: dict[str, tuple[Any, ...]]

    @classmethod
    def of(cls, duty: Duty, pages: set[str]) -> Belongings:
        """Read the channels and messages of the other app, and these incidents of the pager."""
        bot = duty.house.slack.person(BOT).id
        every = duty.house.slack.workspace.channels
        said = {one.id: [asdict(m) for m in one.messages.values() if m.user == bot] for one in every.values()}
        there = {id: _state(duty, id) for id in pages}
        own = {one.id: copy.deepcopy(one) for one in every.values() if one.creator == bot}
        return cls(own, {id: some for id, some in said.items() if some}, there)


def _state(duty: Duty, id: str) -> tuple[Any, ...]:
    one = duty.account.account.incidents[id]
    return one.status, one.title, one.key, [asdict(alert) for alert in one.alerts], len(one.log)
