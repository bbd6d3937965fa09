"""What Django's checks and ours report about the settings."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.core import checks

from integrations.check_result import CheckResult, note, wrong

BY_THE_VENDORS = ("firekind.W", "firekind.I")  # the vendors' own checks report these better


def findings() -> Iterator[CheckResult]:
    """Yield what is wrong in the settings, with Django's deployment checks if this is served over TLS."""
    found = checks.run_checks(include_deployment_checks=settings.FIREKIND.https)
    left = [one for one in found if one.level >= checks.WARNING and not (one.id or "").startswith(BY_THE_VENDORS)]
    for one in left:
        says = " ".join(filter(None, [one.msg, one.hint]))
        yield wrong(says) if one.level >= checks.ERROR else note(says)
    if not left:
        yield CheckResult("The settings are fine.")
