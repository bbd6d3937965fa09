"""The arguments of one call, however they were sent: form fields are text, JSON has types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from integrations.slack.fake.server.answers import ErrorAnswer


class Args:
    """Reads arguments by type; one that cannot be parsed is refused as Slack does."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def __contains__(self, name: str) -> bool:
        return self._given.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        """Return an argument as text."""
        value = self._given.get(name)
        if value is None:
            return default
        return value if isinstance(value, str) else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a boolean argument; forms say `true`, `1` or `True`."""
        value = self._given.get(name)
        if value is None:
            return default
        if isinstance(value, bool | int):
            return bool(value)
        return str(value).lower() in ("true", "1", "yes")

    def number(self, name: str, default: int) -> int:
        """Return an argument as a whole number."""
        value = self._given.get(name)
        if value is None or value == "":
            return default
        try:
            return int(value)
        except (TypeError, ValueError):
            raise ErrorAnswer("invalid_arguments", f"must be a number [json-pointer:/{name}]") from None

    def names(self, name: str) -> list[str]:
        """Return a list given as JSON, as JSON text or as comma-separated text."""
        value = self._given.get(name)
        if isinstance(value, str) and value.startswith("["):
            value = self.json(name)
        if isinstance(value, list | tuple):
            return [str(item) for item in value]
        return [part.strip() for part in str(value or "").split(",") if part.strip()]

    def json(self, name: str, *, error: str = "invalid_arguments") -> Any:
        """Return a structured argument, parsed if it came as text; None if absent."""
        value = self._given.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            raise ErrorAnswer(error, f"must be valid JSON [json-pointer:/{name}]") from None
