"""Tables for plans, effects and pages, and for what was last read from the chat and the pager."""

from workflows.models.alerts import Alert, DeclareRule
from workflows.models.directory import DirectoryRead, Group
from workflows.models.effects import Effect, Limit, Planned, Resource, Restored, Unplanned, VendorErrors
from workflows.models.groups import GroupChange, GroupRule
from workflows.models.members import ChannelTurn, MembersRead, OlderRead
from workflows.models.oncall import PagerRead, PagerTarget, PagerUser, Shift, ShiftOverride
from workflows.models.pages import Page
from workflows.models.reminders import WeeklyReminder
from workflows.models.tickets import Ticket, TrackerRead
from workflows.models.workers import SharedLook, WorkerProcess, WorkersGone

__all__ = [
    "Alert",
    "ChannelTurn",
    "DeclareRule",
    "DirectoryRead",
    "Effect",
    "Group",
    "GroupChange",
    "GroupRule",
    "Limit",
    "MembersRead",
    "OlderRead",
    "Page",
    "PagerRead",
    "PagerTarget",
    "PagerUser",
    "Planned",
    "Resource",
    "Restored",
    "SharedLook",
    "Shift",
    "ShiftOverride",
    "Ticket",
    "TrackerRead",
    "Unplanned",
    "VendorErrors",
    "WeeklyReminder",
    "WorkerProcess",
    "WorkersGone",
]
