"""The PagerDuty account of a run: with every other seed, the fallback leads to another service than pages do."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from integrations.pagerduty.fake import seed as account

SETTING: Final = "FIREKIND_SANDBOX_ACCOUNT"
OWN, ELSEWHERE, FALLBACK = "Firekind", "checkout-api", "fallback"


def drawn(seed: int, *, folder: Path) -> dict[str, str]:
    """Return the setting that the sandbox reads the account of a seed by, written into a folder."""
    if seed % 2 == 0:
        return {}
    path = folder / "account.yaml"
    path.write_text(yaml.safe_dump(elsewhere(account.read()), allow_unicode=True), encoding="utf-8")
    return {SETTING: str(path)}


def elsewhere(about: dict[str, Any]) -> dict[str, Any]:
    """Move the fallback's integration to another service."""
    services = {one["name"]: one for one in about["services"]}
    moved = [one for one in services[OWN]["integrations"] if one["key"] == FALLBACK]
    services[OWN]["integrations"] = [one for one in services[OWN]["integrations"] if one["key"] != FALLBACK]
    services[ELSEWHERE]["integrations"] = [*services[ELSEWHERE]["integrations"], *moved]
    return about
