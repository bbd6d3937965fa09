"""The PagerDuty account of a run. The seed decides where its fallback leads, and whether acknowledgements time out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from integrations.pagerduty.fake import seed as account

SETTING: Final = "FIREKIND_SANDBOX_ACCOUNT"
OWN, ELSEWHERE, FALLBACK = "Firekind", "checkout-api", "fallback"
RUNS_OUT_S: Final = 40


def drawn(seed: int, *, folder: Path) -> dict[str, str]:
    """Return the setting for a seed's account in the sandbox, written into a folder; one in four has none.

    With odd seeds the fallback uses another service than pages do; with two in four, acknowledged pages are triggered
    again after a while.
    """
    about = account.read()
    leads_elsewhere, runs_out = bool(seed & 1), bool(seed & 2)
    if leads_elsewhere:
        about = elsewhere(about)
    if runs_out:
        about["services"] = [one | {"acknowledgement_timeout": RUNS_OUT_S} for one in about["services"]]
    if not leads_elsewhere and not runs_out:
        return {}
    path = folder / "account.yaml"
    path.write_text(yaml.safe_dump(about, allow_unicode=True), encoding="utf-8")
    return {SETTING: str(path)}


def elsewhere(about: dict[str, Any]) -> dict[str, Any]:
    """Move the fallback's integration to another service."""
    services = {one["name"]: one for one in about["services"]}
    moved = [one for one in services[OWN]["integrations"] if one["key"] == FALLBACK]
    services[OWN]["integrations"] = [one for one in services[OWN]["integrations"] if one["key"] != FALLBACK]
    services[ELSEWHERE]["integrations"] = [*services[ELSEWHERE]["integrations"], *moved]
    return about
