"""What the compose files say in each variant: read as compose would, without it."""

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

import yaml

from config.env import ROOT

REAL, SANDBOX = "docker-compose.yml", "docker-compose.sandbox.yml"
VARIANTS: Final[Mapping[str, tuple[str, ...]]] = {"compose": (REAL,), "compose with the sandbox": (REAL, SANDBOX)}


def services(variant: str) -> dict[str, dict[str, Any]]:
    """Return the services of a variant, later files overlaid on earlier ones."""
    merged: Any = {}
    for name in VARIANTS[variant]:
        merged = _laid(merged, yaml.safe_load((ROOT / name).read_text()))
    found: dict[str, dict[str, Any]] = merged["services"]
    return found


def settings(service: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a service, with given values filled in; required ones are generated."""
    return {name: _filled(str(value), given) for name, value in service.get("environment", {}).items()}


def _laid(under: Any, over: Any) -> Any:
    """Overlay one file's value on another's: maps by key, lists concatenated, commands replaced."""
    if isinstance(under, dict) and isinstance(over, dict):
        laid = {name: value if name == "command" else _laid(under.get(name), value) for name, value in over.items()}
        return {**under, **laid}
    if isinstance(under, list) and isinstance(over, list):
        return [*under, *(one for one in over if one not in under)]
    return over


def _filled(value: str, given: Mapping[str, str]) -> str:
    """Fill in `${NAME:-default}` and `${NAME:?reason}`."""

    def fill(found: re.Match[str]) -> str:
        name, sign, word = found.groups()
        return given.get(name) or (word if sign == "-" else secrets.token_urlsafe(48))

    return re.sub(r"\$\{(\w+):([-?])([^}]*)\}", fill, value)
