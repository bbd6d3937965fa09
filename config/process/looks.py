"""Regular looks for work, which need no message: those each process takes, and those one process takes for all."""

from dataclasses import dataclass
from typing import Final

from config.broker import EFFECTS, EVIDENCE


@dataclass(frozen=True, slots=True)
class RegularLook:
    """One regular look: the task that takes it, and its interval in seconds."""

    every_s: float
    task: str


# By the queue that a process works for. Leases guard all work that is found, so several processes may look at once.
OWN: Final = {
    EFFECTS: (
        RegularLook(2.0, "workflows.tasks.sweep"),
        RegularLook(2.0, "workflows.tasks.follow_workspace"),
        RegularLook(2.0, "workflows.tasks.tell_of_misses"),
        RegularLook(2.0, "integrations.slack.tasks.redraw_homes"),
        RegularLook(2.0, "integrations.pagerduty.tasks.sweep"),
        RegularLook(2.0, "workflows.tasks.keep_groups"),
        RegularLook(2.0, "workflows.tasks.refresh_on_call"),
    ),
    EVIDENCE: (
        RegularLook(2.0, "workflows.tasks.sweep_captures"),
        RegularLook(5.0, "evidence.tasks.sweep"),
    ),
}
# Looks that cost more, or ask a vendor: once per interval, by whichever process is first. Both kinds seal the audit.
_SEALING: Final = (RegularLook(5.0, "audit.tasks.seal"), RegularLook(900.0, "audit.tasks.publish"))
SHARED: Final = {
    EFFECTS: (
        *_SEALING,
        RegularLook(45.0, "workflows.tasks.watch_members"),
        RegularLook(60.0, "workflows.tasks.look_at_pages"),
        RegularLook(60.0, "workflows.tasks.look_at_tickets"),
        RegularLook(60.0, "workflows.tasks.recover"),
        RegularLook(60.0, "workflows.tasks.try_announcements"),
        RegularLook(5.0, "integrations.slack.tasks.refresh_homes"),
        RegularLook(60.0, "workflows.tasks.refresh_directory"),
        RegularLook(300.0, "workflows.tasks.audit"),
        RegularLook(3600.0, "workflows.tasks.forget_alerts"),
        RegularLook(3600.0, "workflows.tasks.remind"),
    ),
    EVIDENCE: _SEALING,
}
REGULAR: Final = frozenset(look.task for table in (OWN, SHARED) for looks in table.values() for look in looks)
