"""The pages' templates, and the response that contains one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

import jinja2
from starlette.responses import HTMLResponse, Response

from integrations.slack.fake import screens

from . import emoji

HERE: Final = Path(__file__).parent
WATCHING: Final = "sandbox_watching"  # a cookie with the email address of the chat's viewer, for the pager's page
ZONE: Final = "sandbox_zone"  # a cookie that tells the chat's page the time zone of its reader's browser
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' http: https:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def _environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["hue"] = lambda of: hashlib.sha256(str(of).encode()).digest()[0] % 12
    env.filters["initials"] = _initials
    env.filters["emoji"] = emoji.shown
    env.filters["plain"] = lambda text: emoji.replaced(str(text))
    env.globals["static"] = "/static/{}".format
    env.globals["chat_url"] = "/"
    env.globals["account_url"] = "/pagerduty"
    env.globals["tracker_url"] = "/tracker"
    env.globals["palette"] = emoji.PALETTE
    env.globals["state_key"] = screens.state_key
    return env


def _initials(name: str) -> str:
    words = name.split()
    return (words[0][:1] + (words[-1][:1] if len(words) > 1 else "")).upper() if words else "?"


TEMPLATES: Final = _environment()


def shown(template: str, **values: Any) -> Response:
    """Return a page from a template, under a strict content security policy."""
    text = TEMPLATES.get_template(template).render(**values)
    return HTMLResponse(text, headers={"Content-Security-Policy": POLICY, "Cache-Control": "no-store"})
