"""Workers die by SIGKILL while a picture is uploaded and shared; it appears in its thread once."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest

from stack.supervisor.running import Stack
from stack.tests.kills import killed_everywhere, places, started
from stack.tests.test_kills import ask, declared, until_settled

pytestmark = pytest.mark.workers
FOLDED = b"main;serve;price_basket 61\nmain;serve;render 20\nmain;idle 19\n"


def send(stack: Stack, codename: str) -> None:
    """Send a profile from a host, and wait until it was read."""
    assert b'"ready"' in sent(stack, codename, "&wait=30")[1]


def sent(stack: Stack, codename: str, more: str = "") -> tuple[int, bytes]:
    """Send a profile from a host, and return the status and the body of the response."""
    token = stack.manage("evidence_token", "ada@example.com", "--incident", codename).stdout.strip()
    address = f"{stack.base_url}/api/v1/incidents/{codename}/evidence?title=CPU{more}"
    request = urllib.request.Request(address, FOLDED, {"Authorization": f"Bearer {token}"})  # noqa: S310  # our own
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310  # the same
        return response.status, response.read()


def pictures(stack: Stack, codename: str) -> list[dict[str, Any]]:
    """Messages in the incident's channel that hold a file."""
    (channel,) = [one for one in ask(stack, "/sandbox/state")["channels"] if one["name"] == f"inc-{codename}"]
    return [one for one in channel["messages"] if one.get("files")]


def test_a_picture_is_shown_once_whenever_a_worker_dies(stack: Stack) -> None:
    codename = declared(stack, "Killed around the picture")
    until_settled(stack, codename)
    stack.stop("worker")
    send(stack, codename)
    stack.stop("evidence")
    started(stack, "worker", dies_at=places("picture"))  # it plans, but has nothing to share before the upload
    killed_everywhere(stack, codename, "upload", process="evidence")
    killed_everywhere(stack, codename, "picture")
    shown = until_settled(stack, codename)

    assert {effect["state"] for effect in shown["effects"]} == {"done"}
    (picture,) = pictures(stack, codename)
    assert picture["thread_ts"] != picture["ts"]
    (told,) = [one for one in _messages(stack, codename) if "price_basket" in one["text"]]
    assert told["ts"] == picture["thread_ts"]


def _messages(stack: Stack, codename: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(stack, f"/sandbox/state?channel=inc-{codename}")["messages"]
    return found
