"""What Django's checks and ours say of the settings."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.core import checks

from integrations.check_result import CheckResult, note, wrong

BY_THE_VENDORS = ("firekind.W", "firekind.I")  # said better by whoever asks PagerDuty itself


def findings() -> Iterator[CheckResult]:
    """Yield what is wrong in the settings; as a deployment, unless this is the demo or a trial without TLS."""
    found = checks.run_checks(include_deployment_checks=settings.FIREKIND.https)
    left = [one for one in found if one.level >= checks.WARNING and not (one.id or "").startswith(BY_THE_VENDORS)]
    for one in left:
        says = " ".join(filter(None, [one.msg, one.hint]))
        yield wrong(says) if one.level >= checks.ERROR else note(says)
    if not left:
        yield CheckResult("The settings are fine.")
