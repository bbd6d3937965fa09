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
    """Whoever holds the terminal, and with it the database: nothing can be hidden from them."""


class Everyone:
    """Whoever happens to read along, as in a channel or an announcement: only public incidents may be named there."""


OPERATOR: Final = Operator()
EVERYONE: Final = Everyone()
PUBLIC: Final = "NOT {private}"
TAKES_PART: Final = (
    "EXISTS (SELECT FROM incidents_participant one"
    " WHERE one.incident_id = {pk} AND one.left_at IS NULL AND one.person_id = %s)"
)
# OFFSET 0 has the planner ask row by row. A list shows thirty; reading all that somebody takes part in beforehand, or
# all there is because one is a replay, would grow with everything that has ended.
PUBLIC_OR_TAKES_PART: Final = f"({PUBLIC} OR {TAKES_PART.removesuffix(')')} OFFSET 0))"
WITH_PAST: Final = (
    "({this} AND ({replays} IS NULL OR"
    " EXISTS (SELECT FROM incidents_incident past WHERE past.id = {replays} AND {past} OFFSET 0)))"
)
INSIDE: Final = frozenset({"one", "past"})  # tables by these names are the condition's own
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

    Guests and people from elsewhere see only what they take part in, as in the chat. A replay is seen by those who may
    see what it replays, too. None is someone unknown, who like a leaver sees nothing at all. A hidden incident and one
    that does not exist look alike.
    """
    if isinstance(actor, Operator):
        return Incident.objects.all()
    said, params = _of(actor)
    return Incident.objects.filter(IsSeen(said, *params)) if said else Incident.objects.none()


def condition(actor: Person | Everyone | None, *, table: str) -> tuple[str, list[int]]:
    """Return ``visible_to`` as SQL about a table of incidents, by the name that its query gives it, and parameters.

    For what every page asks: putting a queryset together takes longer than its answer.
    """
    assert table not in INSIDE, f"inside the condition, {table} is something else"
    said, params = _of(actor)
    columns = {"pk": f"{table}.id", "private": f"{table}.private", "replays": f"{table}.replays_id"}
    return (_with_past(said, **columns), [*params, *params]) if said else ("FALSE", [])


def _of(actor: Person | Everyone | None) -> tuple[str, tuple[int, ...]]:
    """Return what is so of an incident that ``actor`` may see, with its parameters; nothing if they see none."""
    if actor is None or (isinstance(actor, Person) and actor.deactivated):
        return "", ()
    if isinstance(actor, Everyone):
        return PUBLIC, ()
    if actor.is_guest or actor.is_external:
        return TAKES_PART, (actor.pk,)
    return PUBLIC_OR_TAKES_PART, (actor.pk,)


def _with_past(said: str, *, pk: str, private: str, replays: str) -> str:
    """Write a condition about an incident, named by its columns, and about what it replays."""
    this, past = said.format(pk=pk, private=private), said.format(pk="past.id", private="past.private")
    return WITH_PAST.format(this=this, replays=replays, past=past)


class IsSeen(Func):
    """Whether this is so of an incident; of a replay it has to be so of what it replays, too.

    Written as SQL because every request asks it: built of querysets, it took longer to put together than to answer.
    """

    output_field = BooleanField()

    def __init__(self, said: str, *params: int) -> None:
        super().__init__(F("pk"), F("private"), F("replays"))
        self._said, self._params = said, params

    def as_sql(  # type: ignore[override]  # of what Func takes, only what a compiler gives
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, list[Any]]:
        """Return the condition, with the columns of the incident as its query names them."""
        pk, private, replays = (compiler.compile(one)[0] for one in self.get_source_expressions())
        return _with_past(self._said, pk=pk, private=private, replays=replays), [*self._params, *self._params]


def one(actor: Actor, where: str, params: Sequence[int | str]) -> Incident | None:
    """Return the first incident that ``actor`` may see, with its type, policy, lead and declarer, or None.

    ``where`` is SQL about a table ``i`` of incidents, ``params`` are its parameters.
    """
    seen, of_actor = ("TRUE", []) if isinstance(actor, Operator) else condition(actor, table="i")
    return INCIDENT.first(f"{WHOLE} WHERE {where} AND {seen} ORDER BY i.id LIMIT 1", [*params, *of_actor])


def find(actor: Actor, name: str) -> Incident:
    """Return the incident of a codename, old or new; raise ``Incident.DoesNotExist`` when hidden or absent."""
    # What cannot be printed is in no codename, and the database does not take all of it as text.
    found = one(actor, OF_CODENAME, [name]) if name.isprintable() else None
    if found is None:
        raise Incident.DoesNotExist
    return found


def may_see(actor: Actor, incident: Incident) -> bool:
    """Return whether ``actor`` may see this incident now, asking the database again."""
    return visible_to(actor).filter(pk=incident.pk).exists()


def original(actor: Actor, incident: Incident) -> Incident | None:
    """Return what an incident is a duplicate of, where ``actor`` may see that, too."""
    of = incident.duplicate_of
    return of if of is not None and may_see(actor, of) else None


def named(actor: Actor, names: Collection[str]) -> set[str]:
    """Return those codenames, old or new, whose incident ``actor`` may see."""
    return set(by_name(actor, names))


def by_name(actor: Actor, names: Collection[str]) -> dict[str, int]:
    """Return the keys of those incidents that ``actor`` may see, by the codenames, old or new, that were asked for."""
    seen = Codename.objects.filter(name__in=names, incident__in=visible_to(actor))
    return dict(seen.values_list("name", "incident_id"))


def who_may_see(incident: int, *, among: Collection[int]) -> set[int]:
    """Return those people of some, by key, who may see an incident now: ``visible_to`` asked for many at once."""
    with connection.cursor() as cursor:
        cursor.execute(WHO_MAY_SEE, [incident, list(among)])
        return {pk for (pk,) in cursor.fetchall()}


def people_known_to(actor: Person) -> QuerySet[Person]:
    """Return those whose names someone may be shown: everyone, but to a guest only who responds where they respond.

    Guests and people from elsewhere see no list of the house, as in the chat.
    """
    if not (actor.is_guest or actor.is_external):
        return Person.objects.all()
    beside = Participant.objects.filter(person=OuterRef("pk"), incident__in=visible_to(actor))
    return Person.objects.filter(Q(pk=actor.pk) | Exists(beside))


def readers(incident: Incident) -> QuerySet[Participant]:
    """Return those who still take part, each with the person, in the order in which they came."""
    return (
        Participant.objects.filter(incident=incident, left_at=None).select_related("person").order_by("since_at", "pk")
    )
