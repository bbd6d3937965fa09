"""The API as used from an affected host: one command with a token and a file."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, TypedDict, Unpack, cast

from stack.errors import StackError

PATIENCE_S = 60


# The API's parameters for a file, typed so that mypy can check callers: it rejects any other.
EvidenceQuery = TypedDict(
    "EvidenceQuery",
    {
        "title": str,
        "unit": str,
        "variant": str,
        "source": str,
        "file_name": str,
        "phase": str,
        "control": str,
        "from": str,
        "to": str,
        "wait": str,
    },
    total=False,
)


class Api:
    """The API of one site, with the token of one person."""

    def __init__(self, base_url: str, token: str) -> None:
        self._base_url = base_url
        self._token = token

    @property
    def token(self) -> str:
        """The token itself, for other ways of sending."""
        return self._token

    def send(self, codename: str, body: bytes, **query: Unpack[EvidenceQuery]) -> dict[str, Any]:
        """Send a file as evidence of an incident, with title and more in the query. Raises StackError if refused."""
        path, given = f"/api/v1/incidents/{codename}/evidence", cast("dict[str, str]", query)
        status, answer = self.ask("POST", path, body, **given)
        if status not in {200, 201, 202}:
            raise StackError(f"The API refused {query.get('title')!r} with {status}: {answer}")
        return answer

    def ask(self, method: str, path: str, body: bytes | None = None, **query: str) -> tuple[int, dict[str, Any]]:
        """Send any request, and return the status and the response."""
        address = f"{self._base_url}{path}{'?' if query else ''}{urllib.parse.urlencode(query)}"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/octet-stream"}
        request = urllib.request.Request(address, body, headers, method=method)  # noqa: S310 (our own loopback)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:  # noqa: S310 (as above)
                return response.status, _read(response.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, _read(refused.read())
        except OSError as error:
            raise StackError(f"The API did not answer {path}: {error}") from None


def _read(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {"text": body[:300].decode(errors="replace")}
    return found if isinstance(found, dict) else {"found": found}
