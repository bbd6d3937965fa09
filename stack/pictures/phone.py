"""Draw our messages as a phone shows them, in the sandbox's channel: the pictures in docs/slack.md."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import uvicorn
from slack_sdk import WebClient

from incidents.policies.policy import Policy
from incidents.reading.catch_up import CatchUpLine
from integrations.sandbox.app import build
from integrations.sandbox.settings import Settings
from integrations.slack.adapter import cards
from integrations.slack.protocol import catch_up_blocks
from stack.services import chromium
from workflows.planning.facts import ChannelPost, Facts, RetypeNews, Room
from workflows.planning.invitee import Invitee
from workflows.planning.wording import headline, posts
from workflows.planning.wording.card import Card

CAUGHT_UP: Final = "slack-catch-up"
EMOJI: Final = re.compile(r":[a-z_]+: ")
UPDATE: Final = "Payments time out since deploy 2041. We are rolling it back."
IMPACT: Final = "One cart in three fails at payment, in every region."
DUE: Final = "A status update is due: Major asks for one every 30 minutes."
STEP: Final = "roll back deploy 2041, done by 17:30"
WIDTH, HEIGHT = 390, 844
SHARPNESS: Final = 1.25  # enough to read, and small enough for a repository


def draw(place: Path, *, dark: bool = False) -> None:
    """Write the pictures into a folder; with `dark` also in the dark theme, for inspection."""
    for name, drawn in stories().items():
        with served() as (url, client):
            channel = _told(client, drawn)
            if name == CAUGHT_UP:
                _caught_up(client, channel)
            _drawn(f"{url}/?as=ada&in={channel}", place / f"{name}.png", scheme="light")
            if dark:
                _drawn(f"{url}/?as=ada&in={channel}", place / f"{name}-dark.png", scheme="dark")


def stories() -> dict[str, list[Card]]:
    """Return what each picture shows, as cards of a fictional incident."""
    known = facts()
    return {
        "slack-headline": [headline.headline(known), posts.told(_post("due", DUE), known)],
        CAUGHT_UP: [posts.told(_update(known), known)],
        "slack-retype": [posts.told(_retype(), known), posts.told(_missing(), known), posts.told(_evidence(), known)],
    }


def facts() -> Facts:
    """Return an active incident that no one leads yet."""
    now = datetime.now(UTC)
    policy = Policy("major", "Major", "Key features or important customers are definitely hit.", colour="red")
    url = "https://firekind.example/incidents/amber-otter/"
    update = _post("updated", "", by="Wei Chen", text=UPDATE)
    return Facts(
        revision=4, codename="amber-otter", title="Checkout is slow for everyone", policy=policy, private=False,
        summary="Customers wait ten seconds and more at payment; some give up.", room=1,
        rooms=(Room(1, "inc-amber-otter", private=False, shown="inc-amber-otter"),), url=url, update=update,
        declared_at=now - timedelta(minutes=41), due_at=now + timedelta(minutes=22),
        roles=(("Communications", Invitee("", "Nadia Rahimi")),),
        impact=_post("impact", "", text=IMPACT), next_step=_step(),
    )  # fmt: skip


def _step() -> ChannelPost:
    return _post("next_step", "", text=STEP, owner=Invitee("", "Wei Chen"))


def _update(known: Facts) -> ChannelPost:
    """Return an update that states impact and next step."""
    assert known.update is not None
    assert known.impact is not None
    return replace(known.update, stated=(("Impact", known.impact), ("Next step", _step())))


def _caught_up(client: WebClient, channel: str) -> None:
    """Tell Ada, who has just joined, what is known."""
    now = datetime.now(UTC)
    ago = {minutes: now - timedelta(minutes=minutes) for minutes in (8, 33)}
    lines = (
        CatchUpLine("Type", "Major, was Ambiguous: every region sees it", (4,), ago[33], "Ada Okafor"),
        CatchUpLine("Impact", IMPACT, (9,), ago[8], "Wei Chen"),
        CatchUpLine("Lead", "no one yet", (1,)),
        CatchUpLine("Latest update", UPDATE, (8,), ago[8], "Wei Chen"),
        CatchUpLine("Next step", f"Wei Chen: {STEP}", (10,), ago[8]),
        CatchUpLine("Next update", "due", (8,), now + timedelta(minutes=22), ahead=True),
        CatchUpLine("Supported", "Deploy 2041 holds a lock of the pool", (7,), by="Wei Chen"),
        CatchUpLine("Ruled out", "the card provider is down", (6,), by="Nadia Rahimi"),
    )
    shown = catch_up_blocks.shown("Checkout is slow for everyone", lines, page="https://firekind.example/")
    user = next(one["id"] for one in client.users_list()["members"] if one["name"] == "ada")
    client.chat_postEphemeral(channel=channel, user=user, text="Where amber-otter stands", blocks=list(shown))


def _post(kind: str, sentence: str, *, by: str = "", text: str = "", **more: object) -> ChannelPost:
    at = datetime.now(UTC) - timedelta(minutes=8)
    return ChannelPost(5, kind, "news", by, sentence, text, 1, at=at, **more)  # type: ignore[arg-type]


def _retype() -> ChannelPost:
    changes = (
        "+ page Major incidents: Tomasz Zieliński",
        "+ invite Carlos Mendes, Ingrid Solberg, Nadia Rahimi (@support)",
        "+ invite Grace Mwangi, Oliver Lindqvist (@leadership)",
        "- resolve the page to Platform",
    )
    news = RetypeNews("Ambiguous", "Major", "red", "ambiguous", changes)
    return _post("retyped", "", by="Ada Okafor", text="Every region sees it, and support has 40 tickets.", retype=news)


def _missing() -> ChannelPost:
    return _post("gap", "No one is on call for Scribe. Choose someone.", ask="fill|Scribe")


def _evidence() -> ChannelPost:
    says = "added evidence 2, CPU of checkout-api: 61 % of 12,400 samples are in json.dumps."
    return _post("evidence", says, by="Wei Chen", evidence=2, pictured=True)


@contextmanager
def served() -> Iterator[tuple[str, WebClient]]:
    """Serve a separate workspace during the block."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = Settings(port=listening.getsockname()[1])
        config = uvicorn.Config(build(settings), log_level="critical", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield settings.own_url, WebClient(settings.bot_token, base_url=f"{settings.own_url}/api/")
        finally:
            server.should_exit = True
            thread.join(5)


def _told(client: WebClient, shown: list[Card]) -> str:
    channel = str(client.conversations_create(name="inc-amber-otter")["channel"]["id"])
    people = client.users_list()["members"]
    client.conversations_invite(channel=channel, users=[one["id"] for one in people if one["name"] == "ada"])
    for card in shown:
        message = cards.message(card)
        # Without an emoji font, which few servers have, each emoji would show as a box.
        head = json.loads(EMOJI.sub("", json.dumps(message["blocks"])))
        client.chat_postMessage(channel=channel, **message | {"blocks": head})
    return channel


def _drawn(url: str, path: Path, *, scheme: Literal["light", "dark"]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.require(), args=chromium.flags())
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SHARPNESS, color_scheme=scheme
        )
        page.goto(url)
        page.locator(".line").last.wait_for()
        page.screenshot(path=path)
        browser.close()
