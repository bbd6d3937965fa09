"""Every request the stand-in answers, by method and path; `protocol.rules` says what each may carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from integrations.pagerduty.fake.server.api_request import ApiRequest
from integrations.pagerduty.fake.state import AccountState

from . import directory, hooks, incidents, oncalls, parts, schedules

Method = Callable[[AccountState, ApiRequest], Any]

METHODS: Final[dict[str, Method]] = {
    **directory.METHODS,
    **schedules.METHODS,
    **oncalls.METHODS,
    **incidents.METHODS,
    **parts.METHODS,
    **hooks.METHODS,
}
