"""Look at one part after the other; a part that cannot be looked at does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from django.db import DatabaseError

from config.doctor import clocks, own_database, own_settings, processes, reached, storage, vendors
from integrations.check_result import CheckResult, wrong

Part = Callable[[], Iterator[CheckResult]]

PARTS: Final[dict[str, Part]] = {
    "settings": own_settings.findings,
    "database": own_database.findings,
    "storage": storage.findings,
    "processes": processes.findings,
    "slack": vendors.slack,
    "groups": vendors.groups,
    "pagerduty": vendors.pagerduty,
    "tracker": vendors.tracker,
    "mail": reached.mail,
    "sign-in": reached.sign_in,
    "clock": clocks.findings,  # after the vendors: by their last answers
}
NOT_LOOKED_AT: Final = "Not checked, because the database does not answer or lacks migrations. Mend that first."


def findings() -> Iterator[tuple[str, CheckResult]]:
    """Yield each finding with the name of its part, as it is found."""
    for name, part in PARTS.items():
        try:
            for found in part():
                yield name, found
        except DatabaseError:
            yield name, wrong(NOT_LOOKED_AT)
