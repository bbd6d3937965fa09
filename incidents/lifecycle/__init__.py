"""The only writer of incidents. Each verb is one transaction and does no network I/O.

A verb locks the incident and checks that ``by`` may see it; it raises ``NotThere`` if not, and ``Refused`` for
everything else it rejects.
"""

from incidents.lifecycle.access import ask_in, break_glass, carry, let_in, turn_away, warn
from incidents.lifecycle.circle import Admission
from incidents.lifecycle.declaring import TypeEdited, declare
from incidents.lifecycle.ending import archive_channel, cancel, duplicate, mitigate, reopen, resolve, unarchived
from incidents.lifecycle.entries import (
    CAPTURED_CHARS,
    capture,
    captured,
    edit,
    follow,
    note,
    remark,
    retract,
    stamped,
    take_back,
    update,
    update_fell_due,
)
from incidents.lifecycle.misses import TooManyMisses
from incidents.lifecycle.opening import open_up, publish
from incidents.lifecycle.people import bring_in, fill, joined, left, set_lead, set_role
from incidents.lifecycle.redaction import redact
from incidents.lifecycle.retyping import adopt, go_back_to_room, leave_room, may_retype, open_another_room, retype
from incidents.lifecycle.rules import BadInput, NotThere, Refused, Stale
from incidents.lifecycle.stating import state_impact, state_next_step
from incidents.lifecycle.to_do.followups import (
    add_followup,
    assign_followup,
    change_followup,
    drop_followup,
    finish_followup,
    reopen_followup,
    schedule_followup,
)
from incidents.lifecycle.to_do.tracked import follow_ticket, track_followup
from incidents.lifecycle.wording import check_off, describe, rename, serve

__all__ = [
    "CAPTURED_CHARS",
    "Admission",
    "BadInput",
    "NotThere",
    "Refused",
    "Stale",
    "TooManyMisses",
    "TypeEdited",
    "add_followup",
    "adopt",
    "archive_channel",
    "ask_in",
    "assign_followup",
    "break_glass",
    "bring_in",
    "cancel",
    "capture",
    "captured",
    "carry",
    "change_followup",
    "check_off",
    "declare",
    "describe",
    "drop_followup",
    "duplicate",
    "edit",
    "fill",
    "finish_followup",
    "follow",
    "follow_ticket",
    "go_back_to_room",
    "joined",
    "leave_room",
    "left",
    "let_in",
    "may_retype",
    "mitigate",
    "note",
    "open_another_room",
    "open_up",
    "publish",
    "redact",
    "remark",
    "rename",
    "reopen",
    "reopen_followup",
    "resolve",
    "retract",
    "retype",
    "schedule_followup",
    "serve",
    "set_lead",
    "set_role",
    "stamped",
    "state_impact",
    "state_next_step",
    "take_back",
    "track_followup",
    "turn_away",
    "unarchived",
    "update",
    "update_fell_due",
    "warn",
]
