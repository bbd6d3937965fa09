"""Slash commands as Slack would send them: signed, each a separate delivery."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from stack.bench.load import Ask
from stack.processes.ports import LOOPBACK

PEOPLE = ("U0WEI", "U0AMELIE", "U0HANNAH", "U0MARCUS")
_numbers = itertools.count(1)


def declare(env: Mapping[str, str], *, sandbox_url: str, title: str = "Checkout is slow") -> Ask:
    """Make signed `/incident declare` commands, never the same twice."""
    return command(env, f"declare {title}", sandbox_url=sandbox_url)


def command(
    env: Mapping[str, str],
    text: str,
    *,
    sandbox_url: str,
    channels: Sequence[str] = ("C0CHECKOUT",),
    numbered: bool = True,
) -> Ask:
    """Make signed `/incident` commands in one channel after the other, never the same delivery twice.

    Their texts differ too, unless they are not ``numbered``.
    """
    secret, port = env["SLACK_SIGNING_SECRET"].encode(), int(env["PORT"])

    def ask() -> bytes:
        number = next(_numbers)
        form = {
            "token": "legacy",
            "team_id": "T0SANDBOX",
            "team_domain": "sandbox",
            "channel_id": channels[number % len(channels)],
            "channel_name": "checkout",
            "user_id": PEOPLE[number % len(PEOPLE)],
            "user_name": PEOPLE[number % len(PEOPLE)][2:].lower(),
            "command": env.get("SLACK_COMMAND") or "/incident",
            "text": f"{text} {number}" if numbered else text,
            "api_app_id": "A0FIREKIND",
            "response_url": f"{sandbox_url}/commands/T0SANDBOX/{number}/bench",
            "trigger_id": f"{number}.{time.time_ns()}.bench",
        }
        return _signed(urlencode(form).encode(), secret, port)

    return ask


def _signed(body: bytes, secret: bytes, port: int) -> bytes:
    stamp = str(int(time.time()))
    signature = hmac.new(secret, b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    head = (
        f"POST /slack/events HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"X-Slack-Request-Timestamp: {stamp}\r\nX-Slack-Signature: v0={signature}\r\n\r\n"
    )
    return head.encode() + body
