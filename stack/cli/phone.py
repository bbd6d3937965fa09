"""Draw our messages as a phone shows them, in the sandbox's channel: the pictures of docs/slack.md."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import uvicorn
from slack_sdk import WebClient

from config.env import ROOT
from incidents.policies.policy import Policy
from integrations.sandbox.app import build
from integrations.sandbox.settings import Settings
from integrations.slack.adapter import cards
from stack.services import chromium
from workflows.planning.facts import ChannelPost, Facts, RetypeNews, Room
from workflows.planning.invitee import Invitee
from workflows.planning.wording import headline, posts
from workflows.planning.wording.card import Card

PLACE: Final = ROOT / "docs" / "images"
EMOJI: Final = re.compile(r":[a-z_]+: ")
WIDTH, HEIGHT = 390, 844
SHARPNESS: Final = 1.25  # enough to read, and small enough for a repository


def main(*words: str) -> int:
    """Write both pictures, or into the folder that is named."""
    place = Path(words[0]) if words else PLACE
    place.mkdir(parents=True, exist_ok=True)
    for name, drawn in stories().items():
        with served() as (url, client):
            channel = _told(client, drawn)
            _drawn(f"{url}/?as=ada&in={channel}", place / f"{name}.png")
        print(f"{place / name}.png: {(place / f'{name}.png').stat().st_size / 1000:.0f} kB")
    return 0


def stories() -> dict[str, list[Card]]:
    """Give what each picture shows, as cards of an incident that never was."""
    known = facts()
    return {
        "slack-headline": [headline.headline(known), posts.told(_post("due", "A status update is due."), known)],
        "slack-retype": [posts.told(_retype(), known), posts.told(_missing(), known), posts.told(_evidence(), known)],
    }


def facts() -> Facts:
    """Give an incident that people respond to and nobody leads yet."""
    now = datetime.now(UTC)
    policy = Policy("major", "Major", "Key features or important customers are definitely hit.", colour="red")
    url = "https://firekind.example/incidents/amber-otter/"
    update = _post(
        "updated", "", by="Wei Chen", text="Payments time out for one in three carts. Rolling back 2041 now."
    )
    return Facts(
        revision=4, codename="amber-otter", title="Checkout is slow for everyone", policy=policy, private=False,
        summary="Customers wait ten seconds and more at payment; some give up.", room=1,
        rooms=(Room(1, "inc-amber-otter", private=False, shown="inc-amber-otter"),), url=url, update=update,
        declared_at=now - timedelta(minutes=41), due_at=now + timedelta(minutes=22),
        roles=(("Communications", Invitee("", "Nadia Rahimi")),),
    )  # fmt: skip


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
    return _post("gap", "Nobody is on call for Communications. Choose someone.", ask="fill|Communications")


def _evidence() -> ChannelPost:
    says = "added evidence 2, CPU of checkout-api: 61 % of 12,400 samples are in json.dumps."
    return _post("evidence", says, by="Wei Chen", evidence=2, pictured=True)


@contextmanager
def served() -> Iterator[tuple[str, WebClient]]:
    """Serve a workspace of its own for as long as the block lasts."""
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
        # Without a font for emoji, which few servers have, a box would stand in the place of each.
        head = json.loads(EMOJI.sub("", json.dumps(message["blocks"])))
        client.chat_postMessage(channel=channel, **message | {"blocks": head})
    return channel


def _drawn(url: str, path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.require(), args=chromium.flags())
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SHARPNESS, color_scheme="light"
        )
        page.goto(url)
        page.locator(".line").last.wait_for()
        page.screenshot(path=path)
        browser.close()
