"""What somebody gets for a question, in a form that two answers can be compared in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext

TOKEN: Final = re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*')
NAME: Final = "the-name"


@dataclass(frozen=True, slots=True)
class Got:
    """An answer, without the name that was asked for; ``queries`` stand for the time it took."""

    status: int
    body: str
    headers: Mapping[str, str]
    cookies: tuple[str, ...]
    queries: int


def ask(
    client: Client,
    method: str,
    address: str,
    *,
    name: str,
    post: Mapping[str, str] | None = None,
    sent: bytes | None = None,
    token: str = "",
) -> Got:
    """Ask an address by a method, and return what came with ``name`` taken out of it."""
    given = {"Authorization": f"Bearer {token}"} if token else {}
    with CaptureQueriesContext(connection) as asked:
        if method == "POST" and sent is None:
            form = {key: value.replace("{}", name) for key, value in (post or {}).items()}
            response = client.post(address, form, headers=given)
        else:
            response = client.generic(method, address, sent or b"", headers=given)
        body = text(response)
    shown = {key: without(value, name) for key, value in response.headers.items()}
    return Got(response.status_code, without(body, name), shown, tuple(sorted(response.cookies)), len(asked))


def text(response: HttpResponseBase) -> str:
    """Return what an answer says; a file is read to its end."""
    if isinstance(response, HttpResponse):
        return response.content.decode(errors="replace")
    assert isinstance(response, StreamingHttpResponse)
    return b"".join(response).decode(errors="replace")


def without(said: str, name: str) -> str:
    """Take a name, and what is drawn anew for each page, out of what was said."""
    return TOKEN.sub(r"\1", said.replace(name, NAME))


def absent(codename: str) -> str:
    """Return a codename of the same length that no incident has."""
    return re.sub(r"[a-z]", "q", codename)
