"""What `manage.py check` covers beyond Django's own checks: files and settings that operators write."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, register
from django.core.checks import Warning as Remark

from config import env
from config.parsing import misspelt
from config.parsing.vendor_settings import PagerDutySettings
from incidents.policies.yaml_file import BadFile
from integrations.profilers import sources


@register()
def profile_sources(**_: Any) -> Sequence[CheckMessage]:
    """Report every error in the list of profile sources, so that no stack starts with half of it."""
    path = settings.FIREKIND.profile_sources_file
    try:
        if path is not None:
            sources.read(path, environ=settings.FIREKIND.named)
    except BadFile as bad:
        return [Error(f"PROFILE_SOURCES_FILE: {problem}", id="firekind.E001") for problem in bad.problems]
    return []


@register()
def pagerduty(**_: Any) -> Sequence[CheckMessage]:
    """Report what is missing for paging, without calling PagerDuty; `manage.py pagerduty_check` does that."""
    firekind = settings.FIREKIND
    given = firekind.pagerduty
    if given is None:
        return list(_unused(firekind.named))
    return [*_deaf(given), *_narrow(given)]


@register()
def names(**_: Any) -> Sequence[CheckMessage]:
    """Report names that were probably meant as settings: nothing reads them, and nothing else would report them."""
    found = misspelt.meant(settings.FIREKIND.named, env.NAMES)
    return [
        Remark(
            f"{wrong} is not a setting, so nothing reads it.",
            hint=f"Did you mean {right}? Rename it, or remove it.",
            id="firekind.W004",
        )
        for wrong, right in sorted(found.items())
    ]


@register(deploy=True)
def demo(**_: Any) -> Sequence[CheckMessage]:
    """Report that the demo is not a deployment, however well it is set up."""
    if settings.FIREKIND.sandbox_url:
        says = "FIREKIND_SANDBOX_URL is set: anyone who reaches this signs in as anyone."
        return [Error(says, hint="Leave it out, and connect a real workspace.", id="firekind.E002")]
    return []


def _unused(named: Mapping[str, str]) -> Iterator[CheckMessage]:
    names = sorted(name for name in named if name.startswith("PAGERDUTY_") and not name.endswith("_URL"))
    if names:
        says = f"{', '.join(names)} set without PAGERDUTY_API_KEY: no one is paged."
        yield Remark(says, hint="Set a REST API key, or remove all of them.", id="firekind.W001")


def _deaf(given: PagerDutySettings) -> Iterator[CheckMessage]:
    if not given.webhook_secrets:
        says = "PAGERDUTY_WEBHOOK_SECRETS is not set: PagerDuty's webhooks are rejected, so changes there show up late."
        yield Remark(says, hint="Set it to the secret of a webhook subscription (v3).", id="firekind.W002")


def _narrow(given: PagerDutySettings) -> Iterator[CheckMessage]:
    if not given.service:
        says = "PAGERDUTY_SERVICE is not set: people, and policies that no service uses, cannot be paged."
        yield Remark(says, hint="Name the service on which such pages are opened.", id="firekind.W003")
    if not given.routing_key:
        says = "PAGERDUTY_ROUTING_KEY is not set: no one is paged while PagerDuty's REST API is down."
        yield Info(says, hint="Set it to the key of an Events API v2 integration of that service.", id="firekind.I001")
