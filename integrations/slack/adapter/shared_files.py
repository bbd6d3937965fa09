"""Download files that people share in Slack, for the worker that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings

from evidence.intake.fetching import FileUnavailable
from integrations.slack.adapter import current, files
from workflows.ports import VendorError

MIB = 1 << 20


def fetch(origin: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the bytes of the file that an origin names. Raises ``FileUnavailable``."""
    slack = current.slack()
    if slack is None:
        raise FileUnavailable("Slack is no longer connected, so the file cannot be downloaded.")
    try:
        found = files.find(slack.wire, str(origin["ref"]))
        if found is None:
            raise FileUnavailable("The file was deleted from Slack, or the app cannot see it.")
        if found.size > settings.FIREKIND.evidence_max_mib * MIB:
            raise FileUnavailable(f"The file is larger than the {settings.FIREKIND.evidence_max_mib:,} MiB limit.")
        yield from files.fetch(slack.wire, found)
    except VendorError as error:
        raise FileUnavailable(error.says, passing=error.retryable) from error
