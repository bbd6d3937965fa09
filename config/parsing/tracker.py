"""The connection to the issue tracker for follow-ups: its settings, all of them or none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from config.parsing.values import SettingError, require, safe, secret, shaped

NAMES: Final = (
    "TRACKER",
    "TRACKER_URL",
    "TRACKER_TOKEN",
    "TRACKER_PROJECT",
    "TRACKER_PRIVATE_PROJECT",
    "TRACKER_WEBHOOK_SECRETS",
    "TRACKER_PEOPLE",
)
KINDS: Final = {
    # By the value of TRACKER: the shape of a project, as a pattern and in words.
    "github": (r"[\w.-]+/[\w.-]+", "owner/repository"),
    "gitlab": (r"[\w.-]+(/[\w.-]+)+", "group/project"),
    "jira": (r"[A-Z][A-Z0-9_]{1,9}", "a project's key, like OPS"),
    "linear": (r"[A-Z0-9]{1,7}", "a team's key, like OPS"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerSettings:
    """The settings for one issue tracker.

    Follow-ups of private incidents go only to ``private_project``, and nowhere without one. ``people`` maps emails to
    accounts; an empty ``url`` means the vendor's own.
    """

    kind: str
    url: str
    token: str = field(repr=False)
    project: str
    private_project: str
    webhook_secrets: tuple[str, ...] = field(repr=False)
    people: Mapping[str, str]


def read(given: Mapping[str, str]) -> TrackerSettings | None:
    """Parse the tracker's settings; None if there is none. Raises ``SettingError``."""
    if "TRACKER" not in given:
        return None
    kind = shaped(given, "TRACKER", "", "|".join(KINDS), " or ".join(KINDS))
    shape, words = KINDS[kind]
    for name in ("TRACKER_TOKEN", "TRACKER_PROJECT"):
        require(given, name, because=f"TRACKER is {kind}")
    project = shaped(given, "TRACKER_PROJECT", "", shape, words)
    private = shaped(given, "TRACKER_PRIVATE_PROJECT", "", f"({shape})?", words)
    if private.casefold() == project.casefold():  # trackers ignore case in project names
        says = "TRACKER_PRIVATE_PROJECT is TRACKER_PROJECT: name a project that only responders of private incidents"
        raise SettingError(f"{says} can read, or leave it empty.")
    if kind == "jira":
        require(given, "TRACKER_URL", because="each Jira site has an address of its own")
    own_secrets = [one.strip() for one in given.get("TRACKER_WEBHOOK_SECRETS", "").split(",")]  # chosen by people
    return TrackerSettings(
        kind=kind,
        url=safe(given, "TRACKER_URL", default="") if "TRACKER_URL" in given else "",
        token=secret(given, "TRACKER_TOKEN"),
        project=project,
        private_project=private,
        webhook_secrets=tuple(one for one in own_secrets if one),
        people=_people(given.get("TRACKER_PEOPLE", "")),
    )


def _people(value: str) -> dict[str, str]:
    pairs = [one.strip() for one in value.split(",") if one.strip()]
    for one in pairs:
        if not re.fullmatch(r"[^@\s=]+@[^@\s=]+=[^\s=]+", one):
            raise SettingError(f"TRACKER_PEOPLE must be email=account pairs with commas between, not {one!r}.")
    return dict(one.split("=") for one in pairs)
