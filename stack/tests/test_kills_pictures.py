"""Workers die by SIGKILL while a picture is sent up and while it is shown; it stands below its words once."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from stack.running import Stack
from stack.tests.kills import killed_at_every_point
from stack.tests.test_kills import ask, declared, until_settled
from stack.throwaway import throwaway

pytestmark = pytest.mark.workers
FOLDED = b"main;serve;price_basket 61\nmain;serve;render 20\nmain;idle 19\n"


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with throwaway() as running:
        yield running


def send(stack: Stack, codename: str) -> None:
    """Send a profile from a host, and wait until it was read."""
    token = stack.manage("evidence_token", "ada@example.com", "--incident", codename).stdout.strip()
    address = f"{stack.base_url}/api/v1/incidents/{codename}/evidence?title=CPU&wait=30"
    request = urllib.request.Request(address, FOLDED, {"Authorization": f"Bearer {token}"})  # noqa: S310  # our own
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310  # the same
        assert b'"ready"' in response.read()


def pictures(stack: Stack, codename: str) -> list[dict[str, Any]]:
    """Messages in the incident's channel that hold a file."""
    (channel,) = [one for one in ask(stack, "/sandbox/state")["channels"] if one["name"] == f"inc-{codename}"]
    return [one for one in channel["messages"] if one.get("files")]


@pytest.mark.parametrize(("kind", "process"), [("upload", "evidence"), ("picture", "worker")])
def test_a_picture_is_shown_once_whenever_a_worker_dies(stack: Stack, kind: str, process: str) -> None:
    codename = declared(stack, f"Killed around the {kind}")
    until_settled(stack, codename)
    stack.stop("worker")
    send(stack, codename)
    stack.stop("evidence")
    for one in {"worker", "evidence"} - {process}:
        stack.start(one)
    killed_at_every_point(stack, kind, process=process)
    shown = until_settled(stack, codename)

    assert {effect["state"] for effect in shown["effects"]} == {"done"}
    (picture,) = pictures(stack, codename)
    assert picture["thread_ts"] != picture["ts"]
    (told,) = [one for one in _messages(stack, codename) if "price_basket" in one["text"]]
    assert told["ts"] == picture["thread_ts"]


def _messages(stack: Stack, codename: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(stack, f"/sandbox/state?channel=inc-{codename}")["messages"]
    return found
