"""Check the setup of the issue tracker, and return each result as a sentence with its next step."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from integrations import refused_last
from integrations.check_result import CheckResult, note, unanswered
from integrations.trackers.protocol import setup
from integrations.trackers.protocol.setup import Setup
from workflows.ports import VendorError
from workflows.tracker_port import Tracker

LATELY = timedelta(minutes=1)
MEND = "Check the permissions of TRACKER_TOKEN, and the project's settings."
REFUSED = {"http_403": MEND, "issues_off": MEND}


def findings(tracker: Tracker, given: Setup, *, at: datetime) -> Iterator[CheckResult]:
    """Yield a result for each project, the webhook and the list of people, without writing to the tracker."""
    for private, project in ((False, given.project), (True, given.private_project)):
        if project:
            yield _project(tracker, project, private=private, at=at)
    yield from refused_last.findings("tracker", tracker.name, codes=REFUSED)
    if not given.private_project:
        yield note("TRACKER_PRIVATE_PROJECT is not set: follow-ups of private incidents stay here.")
    if not given.webhook_secrets:
        says = "TRACKER_WEBHOOK_SECRETS is not set: changes of tickets show up within a minute."
        yield note(f"{says} Add a webhook to {setup.webhook_url()} to see them immediately.")
    if not given.people:
        yield note("TRACKER_PEOPLE is not set: no ticket is assigned to anyone.")


def _project(tracker: Tracker, project: str, *, private: bool, at: datetime) -> CheckResult:
    try:
        tracker.changed_tickets(at - LATELY, private=private)
    except VendorError as error:
        return unanswered(error, f"{project}: ")
    return CheckResult(f"{tracker.name} lets the token read {project}; the first ticket shows whether it can write.")
