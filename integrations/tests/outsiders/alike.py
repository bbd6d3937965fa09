"""A response to a person's request, in a form that can be compared with another response."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client

TOKEN: Final = re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*')
NAME: Final = "the-name"


@dataclass(frozen=True, slots=True)
class Got:
    """A response without the requested name; ``queries`` represents the time it took."""

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
    """Request a path with a method, and return the response with ``name`` removed from it."""
    given = {"Authorization": f"Bearer {token}"} if token else {}
    with statements() as asked:
        if method == "POST" and sent is None:
            form = {key: value.replace("{}", name) for key, value in (post or {}).items()}
            response = client.post(address, form, headers=given)
        else:
            response = client.generic(method, address, sent or b"", headers=given)
        body = text(response)
    shown = {key: without(value, name) for key, value in response.headers.items()}
    return Got(response.status_code, without(body, name), shown, tuple(sorted(response.cookies)), len(asked))


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect SQL statements without their values: filling them in, as Django does, takes longer than running them."""
    asked: list[str] = []

    def keep(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(keep):
        yield asked


def text(response: HttpResponseBase) -> str:
    """Return the text of a response; a file is read to its end."""
    if isinstance(response, HttpResponse):
        return response.content.decode(errors="replace")
    assert isinstance(response, StreamingHttpResponse)
    return b"".join(response).decode(errors="replace")


def without(said: str, name: str) -> str:
    """Remove a name, and whatever differs each time a page is drawn."""
    return TOKEN.sub(r"\1", said.replace(name, NAME))


def absent(codename: str) -> str:
    """Return a codename of the same length that no incident has."""
    return re.sub(r"[a-z]", "q", codename)
