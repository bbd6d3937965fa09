"""Check one part after the other; a part that cannot be checked does not stop the others."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from django.db import DatabaseError

from config.doctor import clocks, own_database, own_settings, processes, reached, storage, vendors
from config.process.told_plainly import NOT_THERE, OF_THE_ROLE
from incidents.outages import database_watch
from integrations.check_result import CheckResult, wrong

Part = Callable[[], Iterator[CheckResult]]

PARTS: Final[dict[str, Part]] = {
    "settings": own_settings.findings,
    "database": own_database.findings,
    "storage": storage.findings,
    "evidence": storage.held,
    "processes": processes.findings,
    "slack": vendors.slack,
    "groups": vendors.groups,
    "pagerduty": vendors.pagerduty,
    "types": vendors.types,
    "tracker": vendors.tracker,
    "mail": reached.mail,
    "sign-in": reached.sign_in,
    "clock": clocks.findings,  # after the vendors, because it uses their last responses
}
NOT_LOOKED_AT: Final = "Not checked, because the database does not answer or lacks migrations. Fix that first."


def findings() -> Iterator[tuple[str, CheckResult]]:
    """Yield each finding with the name of its part, as it is found."""
    for name, part in PARTS.items():
        try:
            for found in part():
                yield name, found
        except DatabaseError as error:
            yield name, wrong(_unread(error))
        except Exception as error:  # noqa: BLE001 (people run this when things are odd: one fault must not hide others)
            yield name, wrong(f"This check failed with {_place(error)}. Please report it. The other checks ran.")


def _unread(error: DatabaseError) -> str:
    state, first = database_watch.state_of(error), (str(error).strip().splitlines() or [""])[0]
    if state == OF_THE_ROLE:
        return f"The database role may not look at this ({first}): run audit/grants.sql as the owner of the tables."
    if database_watch.says_so(error) or state in NOT_THERE:
        return NOT_LOOKED_AT
    return f"PostgreSQL rejected a query of this check, with {state} at {_place(error)}. Report that."


def _place(error: BaseException) -> str:
    """Return an error's class and where it was raised, without its message, which may quote data."""
    *_, last = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
