"""Form validation shared by every page. The rules themselves live in ``lifecycle``."""

from incidents.forms.access import LetInForm, OpenUpForm, PublishForm, TurnAwayForm
from incidents.forms.declare import DeclareForm
from incidents.forms.ending import ArchiveForm, CancelForm, DuplicateForm, MitigateForm, ReopenForm, ResolveForm
from incidents.forms.followups import DropForm, FinishForm, FollowupForm, ReassignForm, ReopenTaskForm, TaskForm
from incidents.forms.people import BringForm, FillForm, LeadForm, NextStepForm, RoleForm
from incidents.forms.types import TypeForm
from incidents.forms.verb import VerbForm
from incidents.forms.words import (
    CheckForm,
    DescribeForm,
    EditForm,
    ImpactForm,
    NoteForm,
    RedactForm,
    RenameForm,
    RetractForm,
    ServeForm,
    UpdateForm,
)

VERBS: dict[str, type[VerbForm]] = {
    "update": UpdateForm,
    "impact": ImpactForm,
    "next-step": NextStepForm,
    "task": TaskForm,
    "follow-up": FollowupForm,
    "finish": FinishForm,
    "reassign": ReassignForm,
    "drop": DropForm,
    "reopen-task": ReopenTaskForm,
    "note": NoteForm,
    "mitigate": MitigateForm,
    "resolve": ResolveForm,
    "reopen": ReopenForm,
    "lead": LeadForm,
    "role": RoleForm,
    "fill": FillForm,
    "bring": BringForm,
    "rename": RenameForm,
    "summary": DescribeForm,
    "services": ServeForm,
    "check": CheckForm,
    "edit": EditForm,
    "retract": RetractForm,
    "redact": RedactForm,
    "duplicate": DuplicateForm,
    "cancel": CancelForm,
    "archive": ArchiveForm,
    "let-in": LetInForm,
    "turn-away": TurnAwayForm,
    "open-up": OpenUpForm,
    "publish": PublishForm,
}

__all__ = ["VERBS", "DeclareForm", "TypeForm", "VerbForm"]
