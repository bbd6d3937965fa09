"""A control door of the sandbox: JSON in, JSON out, words when it refuses."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from stack.errors import StackError

Json = dict[str, Any]
PATIENCE_S = 30


def ask(url: str, body: Json | None = None, *, method: str | None = None, **query: Any) -> Json:
    """Send the sandbox a request. Raises StackError if it refuses or does not respond."""
    address = f"{url}{'?' if query else ''}{urllib.parse.urlencode(query)}"
    path = urllib.parse.urlsplit(url).path
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, data, headers, method=method)  # noqa: S310 (our own loopback)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:  # noqa: S310 (as above)
            found: Json = json.load(response)
    except urllib.error.HTTPError as refused:
        with refused:
            raise StackError(f"The sandbox refused {path}: {refused.read(300).decode(errors='replace')}") from None
    except OSError as error:
        raise StackError(f"The sandbox did not answer {path}: {error}") from None
    return found


def order_fault(door: str, **about: Any) -> int:
    """Set a fault at a vendor's door and return its number."""
    return max(int(one["id"]) for one in ask(f"{door}/faults", about)["faults"])


def lift_fault(door: str, fault: int) -> None:
    """Lift one fault of a vendor's door."""
    ask(f"{door}/faults", method="DELETE", id=fault)
