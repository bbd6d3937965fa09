"""Find the incident someone means: this channel's, a named one, or one from a list."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Final

from django.db import connection
from django.db.models import QuerySet

from incidents import codename_typed, lifecycle, still_seen, visibility
from incidents.models import Incident, IncidentType, Person
from incidents.policies import current_types
from integrations.slack.protocol import blocks, mrkdwn, setup

SUFFIX: Final = re.compile(r"-\d$")  # of a channel whose name was taken
EMOJI: Final = re.compile(r"(?::[a-z0-9_+'\-]+:\s*)+")
WORD: Final = re.compile(r"\s*(?P<word>(?:<[^<>]*>|[^\s<>])+)\s*(?P<rest>.*)", re.DOTALL)
NEAR: Final = 0.7  # difflib's ratio: accepts *secure* and *majro*, but no word that merely shares some letters
PIECE: Final = 4
OF_CHANNEL: Final = """
    i.id = ANY (ARRAY (SELECT r.incident_id FROM workflows_resource r WHERE r.kind = 'channel' AND r.external_id = %s))
"""
TALKED_IN: Final = """
    SELECT r.incident_id, r.external_id FROM workflows_resource r JOIN incidents_incident i ON i.id = r.incident_id
     WHERE i.id = ANY (%s) AND r.kind = 'channel' AND r.state = 'there' AND r.key = 'channel/' || i.room
"""
NOT_THERE: Final = "No such incident. Check the codename, or request access if it may be private."


def of_channel(channel_id: str, *, by: Person) -> Incident | None:
    """Return a channel's incident; None when there is none, or ``by`` may not see it."""
    if not channel_id:
        return None
    found = visibility.one(by, OF_CHANNEL, [channel_id])
    if found is not None:
        still_seen.note(found)
    return found


def named(codename: str, *, by: Person) -> Incident:
    """Return the incident of a codename. Raises ``Refused`` when it is hidden or absent."""
    try:
        return _found(codename, by=by)
    except Incident.DoesNotExist:
        raise no_such() from None


def no_such() -> lifecycle.Refused:
    """Return the error for an incident that is hidden or absent."""
    return lifecycle.Refused(NOT_THERE)


def parted(said: str) -> tuple[str, str]:
    """Split the first word off a text; a Slack mention or link counts as one word, whatever it contains."""
    match = WORD.fullmatch(said)
    return (match["word"], match["rest"].rstrip()) if match else ("", said)


def first_word(said: str, *, by: Person) -> tuple[Incident | None, str]:
    """Split an incident's name off the front of a text, if there is one."""
    word, rest = parted(said)
    incident = meant(word, by=by)
    return (incident, rest) if incident is not None else (None, said)


def meant(word: str, *, by: Person) -> Incident | None:
    """Return the incident that ``by`` named in any way, by codename, channel or page, if they may see it."""
    mentioned = mrkdwn.CHANNEL_MENTION.search(word)
    if mentioned is not None:
        return of_channel(mentioned[1], by=by)
    names = dict.fromkeys((codename_typed.read(mrkdwn.unescape(word)), codename(word)))
    for name in filter(codename_typed.is_shaped, names):
        try:
            return _found(name, by=by)
        except Incident.DoesNotExist:
            continue
    return None


def _found(codename: str, *, by: Person) -> Incident:
    found = visibility.find(by, codename)
    still_seen.note(found)
    return found


def codename(word: str) -> str:
    """Return a typed codename, also from a channel's name; empty if it does not have a codename's shape.

    Nothing is looked up, so it may be the codename of an incident that is hidden from the person.
    """
    mentioned = mrkdwn.CHANNEL_MENTION.search(word)
    name = codename_typed.read(mentioned[2] or "" if mentioned else mrkdwn.unescape(word))
    slack = setup.current()
    bare = SUFFIX.sub("", name.removeprefix(f"{slack.channel_prefix}-")) if slack else name
    return next((one for one in (bare, name) if codename_typed.is_shaped(one)), "")


def seen(by: Person) -> QuerySet[Incident]:
    """Return the incidents that ``by`` may see: open ones first, then newest first."""
    incidents = visibility.visible_to(by).select_related("type", "policy_version", "lead")
    return incidents.order_by("-active", "-declared_at", "-pk")


def channels(incidents: Iterable[Incident]) -> dict[int, str]:
    """Return the ids of the incidents' current channels by incident, with one query."""
    with connection.cursor() as cursor:
        cursor.execute(TALKED_IN, [[incident.pk for incident in incidents]])
        return dict(cursor.fetchall())


def place(incident: Incident) -> str:
    """Return a link to an incident's channel, or to its page while it has no channel."""
    channel_id = channels([incident]).get(incident.pk)
    return mrkdwn.channel(channel_id, incident.codename) if channel_id else linked(incident)


def options(incidents: Iterable[Incident]) -> list[blocks.Option]:
    """Return incidents as options: type and title, with the codename below."""
    return [blocks.option(f"{one.policy.name}: {one.title}", one.codename, says=one.codename) for one in incidents]


def type_named(said: str) -> IncidentType | None:
    """Return the type with this name or, failing that, this slug; None when there is none."""
    wanted, types = bare(said), current_types.usable()
    return next((one for called in CALLED for one in types if wanted in called(one)), None)


def usable_type(slug: str) -> IncidentType:
    """Return the type with this slug, whatever other types are called. Raises ``Refused`` with the closest match."""
    types = current_types.usable()
    found = next((one for one in types if one.slug == slug), None)
    if found is not None:
        return found
    known = ", ".join(one.slug for one in types)
    near = near_type(slug, types)
    meant = f" Did you mean {near.slug}?" if near else ""
    raise lifecycle.Refused(f"There is no type “{slug}”.{meant} The types are: {known}.")


def meant_type(said: str) -> IncidentType | None:
    """Return the type to ask about when someone may have misspelled one, or named an archived one.

    An archived type is replaced by a usable one that is equally private, preferably the default.
    """
    usable = current_types.usable()
    archived = IncidentType.objects.filter(archived_at__isnull=False).select_related("current")
    near = near_type(said, [*usable, *archived])
    if near is None or near.archived_at is None:
        return near
    alike = [one for one in usable if one.policy.private == near.policy.private]
    return min(alike or usable, key=lambda one: not one.is_default)


def near_type(said: str, types: Collection[IncidentType]) -> IncidentType | None:
    """Return the type whose name someone most likely misspelled, if any."""
    wanted, first = bare(said), bare(said.strip().partition(" ")[0])
    scores = [
        (max(_likeness(wanted, first, name) for called in CALLED for name in called(one)), -n, one)
        for n, one in enumerate(types)
    ]
    best, _, meant = max(scores, default=(0.0, 0, None))
    return meant if best >= NEAR else None


def _likeness(wanted: str, first: str, name: str) -> float:
    """Return from 0 to 1 how similar a text is to a name: as a whole, by its first word, or as a part of the name."""
    if first == name or (len(wanted) >= PIECE and (name.startswith(wanted) or name.endswith(wanted))):
        return 1.0
    return difflib.SequenceMatcher(None, wanted, name).ratio()


def names(type: IncidentType) -> set[str]:
    """Return a type's name in the form of ``bare``, with and without its emoji."""
    name = type.policy.name
    return {bare(name), bare(EMOJI.sub("", name))} - {""}


def slugs(type: IncidentType) -> set[str]:
    """Return a type's slug in the form of ``bare``."""
    return {bare(type.slug)}


CALLED: Final = (names, slugs)  # ways to name a type; the one that people see comes first


def bare(said: str) -> str:
    """Normalise a name: no case, no accents, and nothing between its words."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", said).casefold())


def page(incident: Incident) -> str:
    """Return the URL of an incident's page."""
    return f"{setup.base_url()}{incident.get_absolute_url()}"


def linked(incident: Incident) -> str:
    """Return an incident's codename as a link to its page."""
    return mrkdwn.link(page(incident), incident.codename)


def titled(incident: Incident) -> str:
    """Return the heading of a modal: an incident's codename as a link, and its title."""
    return f"{linked(incident)}  {mrkdwn.escape(mrkdwn.cut(incident.title, 150))}"
