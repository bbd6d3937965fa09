"""The tables of the domain."""

from incidents.models.access import AccessRequest, Knock, Miss, Summary
from incidents.models.event import Event, Source
from incidents.models.followups import Followup
from incidents.models.incident import Codename, Incident, Participant, Status
from incidents.models.people import Person
from incidents.models.proposals import Notice, Proposal
from incidents.models.replay import Replay
from incidents.models.saved_view import SavedView
from incidents.models.types import IncidentType, PolicyVersion

__all__ = [
    "AccessRequest",
    "Codename",
    "Event",
    "Followup",
    "Incident",
    "IncidentType",
    "Knock",
    "Miss",
    "Notice",
    "Participant",
    "Person",
    "PolicyVersion",
    "Proposal",
    "Replay",
    "SavedView",
    "Source",
    "Status",
    "Summary",
]
