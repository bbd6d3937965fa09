"""The only answer to "who may see": every list, search, count, page, stream and message starts here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from incidents.models import Codename, Incident, IncidentType, Participant, Person, PolicyVersion
from incidents.written_rows import WrittenRows


class Operator:
    """The person at the terminal, who has the database with it: nothing can be hidden from them."""


class Everyone:
    """Anyone who may be reading, as in a channel or an announcement: only public incidents may be named there."""


OPERATOR: Final = Operator()
EVERYONE: Final = Everyone()
PUBLIC: Final = "NOT {private}"
TAKES_PART: Final = (
    "EXISTS (SELECT FROM incidents_participant one"
    " WHERE one.incident_id = {pk} AND one.left_at IS NULL AND one.person_id = %s)"
)
# OFFSET 0 makes the planner check row by row. A list shows thirty rows; reading beforehand all that someone takes part
# in, or everything because one row is a replay, would grow with all incidents that ever ended.
PUBLIC_OR_TAKES_PART: Final = f"({PUBLIC} OR {TAKES_PART.removesuffix(')')} OFFSET 0))"
WITH_PAST: Final = (
    "({this} AND ({replays} IS NULL OR"
    " EXISTS (SELECT FROM incidents_incident past WHERE past.id = {replays} AND {past} OFFSET 0)))"
)
INSIDE: Final = frozenset({"one", "past"})  # table names used inside the condition
INCIDENT: Final = WrittenRows(
    Incident,
    of="i",
    but=["words"],
    beside={
        "type": WrittenRows(IncidentType, of="t"),
        "policy_version": WrittenRows(PolicyVersion, of="v"),
        "lead": WrittenRows(Person, of="l"),
        "declared_by": WrittenRows(Person, of="d"),
    },
)
WHOLE: Final = """
    FROM incidents_incident i
    JOIN incidents_incidenttype t ON t.id = i.type_id JOIN incidents_policyversion v ON v.id = i.policy_version_id
    LEFT JOIN incidents_person l ON l.id = i.lead_id LEFT JOIN incidents_person d ON d.id = i.declared_by_id
"""
OF_CODENAME: Final = "i.id = (SELECT c.incident_id FROM incidents_codename c WHERE c.name = %s)"
OF_PERSON: Final = """
    (EXISTS (SELECT FROM incidents_participant one
              WHERE one.incident_id = {of}.id AND one.left_at IS NULL AND one.person_id = p.id OFFSET 0)
     OR NOT ({of}.private OR p.is_guest OR p.is_external))
"""
WHO_MAY_SEE: Final = f"""
    SELECT p.id FROM incidents_person p JOIN incidents_incident i ON i.id = %s
      LEFT JOIN incidents_incident past ON past.id = i.replays_id
     WHERE p.id = ANY (%s) AND NOT p.deactivated AND {OF_PERSON.format(of="i")}
       AND (past.id IS NULL OR {OF_PERSON.format(of="past")})
"""  # noqa: S608 (conditions of ours)
Actor = Person | Operator | Everyone | None


def visible_to(actor: Actor) -> QuerySet[Incident]:
    """Return the incidents that ``actor`` may see: public ones, and private ones they still take part in.

    Guests and external people see only what they take part in, as in the chat. A replay is visible only to those who
    may also see what it replays. None is an unknown person, who like a deactivated one sees nothing at all. A hidden
    incident looks like one that does not exist.
    """
    if isinstance(actor, Operator):
        return Incident.objects.all()
    said, params = _of(actor)
    return Incident.objects.filter(IsSeen(said, *params)) if said else Incident.objects.none()


def condition(actor: Person | Everyone | None, *, table: str) -> tuple[str, list[int]]:
    """Return ``visible_to`` as SQL about the incidents table under the alias ``table``, and its parameters.

    For what every page asks: building a queryset takes longer than answering it.
    """
    assert table not in INSIDE, f"inside the condition, {table} is something else"
    said, params = _of(actor)
    columns = {"pk": f"{table}.id", "private": f"{table}.private", "replays": f"{table}.replays_id"}
    return (_with_past(said, **columns), [*params, *params]) if said else ("FALSE", [])


def _of(actor: Person | Everyone | None) -> tuple[str, tuple[int, ...]]:
    """Return the condition for an incident that ``actor`` may see, with its parameters; empty if they see none."""
    if actor is None or (isinstance(actor, Person) and actor.deactivated):
        return "", ()
    if isinstance(actor, Everyone):
        return PUBLIC, ()
    if actor.is_guest or actor.is_external:
        return TAKES_PART, (actor.pk,)
    return PUBLIC_OR_TAKES_PART, (actor.pk,)


def _with_past(said: str, *, pk: str, private: str, replays: str) -> str:
    """Apply a condition to an incident, given by its columns, and to what it replays."""
    this, past = said.format(pk=pk, private=private), said.format(pk="past.id", private="past.private")
    return WITH_PAST.format(this=this, replays=replays, past=past)


class IsSeen(Func):
    """Whether a condition holds for an incident and, if it is a replay, for the incident it replays.

    Written as SQL because every request asks it: as querysets, it took longer to build than to answer.
    """

    output_field = BooleanField()

    def __init__(self, said: str, *params: int) -> None:
        super().__init__(F("pk"), F("private"), F("replays"))
        self._said, self._params = said, params

    def as_sql(  # type: ignore[override]  # of what Func takes, only what a compiler gives
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, list[Any]]:
        """Return the condition, with the incident's columns as its query names them."""
        pk, private, replays = (compiler.compile(one)[0] for one in self.get_source_expressions())
        return _with_past(self._said, pk=pk, private=private, replays=replays), [*self._params, *self._params]


def one(actor: Actor, where: str, params: Sequence[int | str]) -> Incident | None:
    """Return the first incident that ``actor`` may see, with its type, policy, lead and declarer, or None.

    ``where`` is SQL about a table ``i`` of incidents, ``params`` are its parameters.
    """
    seen, of_actor = ("TRUE", []) if isinstance(actor, Operator) else condition(actor, table="i")
    return INCIDENT.first(f"{WHOLE} WHERE {where} AND {seen} ORDER BY i.id LIMIT 1", [*params, *of_actor])


def find(actor: Actor, name: str) -> Incident:
    """Return the incident of a codename, old or new; raise ``Incident.DoesNotExist`` if it is hidden or absent."""
    # Unprintable characters are in no codename, and the database does not accept all of them as text.
    found = one(actor, OF_CODENAME, [name]) if name.isprintable() else None
    if found is None:
        raise Incident.DoesNotExist
    return found


def may_see(actor: Actor, incident: Incident) -> bool:
    """Return whether ``actor`` may see this incident now; asks the database again."""
    return visible_to(actor).filter(pk=incident.pk).exists()


def original(actor: Actor, incident: Incident) -> Incident | None:
    """Return the incident that this one duplicates, if ``actor`` may see that one too."""
    of = incident.duplicate_of
    return of if of is not None and may_see(actor, of) else None


def named(actor: Actor, names: Collection[str]) -> set[str]:
    """Return those codenames, old or new, whose incident ``actor`` may see."""
    return set(by_name(actor, names))


def by_name(actor: Actor, names: Collection[str]) -> dict[str, int]:
    """Map those codenames, old or new, whose incident ``actor`` may see to the incident's key."""
    seen = Codename.objects.filter(name__in=names, incident__in=visible_to(actor))
    return dict(seen.values_list("name", "incident_id"))


def who_may_see(incident: int, *, among: Collection[int]) -> set[int]:
    """Return which of some people, by key, may see an incident now: ``visible_to`` for many at once."""
    with connection.cursor() as cursor:
        cursor.execute(WHO_MAY_SEE, [incident, list(among)])
        return {pk for (pk,) in cursor.fetchall()}


def people_known_to(actor: Person) -> QuerySet[Person]:
    """Return the people whose names someone may be shown: everyone, but to a guest only those they respond with.

    Guests and external people see no list of the workspace, as in the chat.
    """
    if not (actor.is_guest or actor.is_external):
        return Person.objects.all()
    beside = Participant.objects.filter(person=OuterRef("pk"), incident__in=visible_to(actor))
    return Person.objects.filter(Q(pk=actor.pk) | Exists(beside))


def readers(incident: Incident) -> QuerySet[Participant]:
    """Return the current participants, each with the person, in the order they came."""
    return (
        Participant.objects.filter(incident=incident, left_at=None).select_related("person").order_by("since_at", "pk")
    )
