"""Match the pager's users to people: by email once, then pinned; by hand if an email is not enough."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Lower

from incidents import hints, lifecycle
from incidents.audited import audit_notes
from incidents.models import Incident, Person
from incidents.people import emails
from incidents.second_manager import circles, seconding
from workflows.models import PagerUser

Matched = PagerUser.Matched

# People an email never proves, first that applies: the attribute to check, and how we describe such a person.
NEVER = (
    ("deactivated", "someone who has left"),
    ("is_bot", "a bot"),
    ("is_guest", "a guest, and guests are never on call"),
    ("is_external", "someone from another workspace"),
)


@dataclass(frozen=True, slots=True)
class Meeting:
    """The result of looking for a pager user: the person here, or in words why there is no match."""

    person: Person | None = None
    says: str = ""


OURS = Meeting(says="Firekind opens pages as this user, so no match is needed.")


def meet(
    user: PagerUser, *, people: Collection[Person], taken: Collection[int] = (), twins: Collection[str] = ()
) -> Meeting:
    """Match a pager user to one of the ``people`` with the same email, or say why no one matches.

    ``taken`` holds the ids of people who are already matched, ``twins`` the emails that several users of the pager
    share.
    """
    says = _unclear(user, people, twins) or _refused(next(iter(people)), taken)
    return Meeting(says=says) if says else Meeting(next(iter(people)))


def _unclear(user: PagerUser, people: Collection[Person], twins: Collection[str]) -> str:
    """Say why an email does not name exactly one person."""
    if not user.email:
        return "PagerDuty has no email for them."
    if not people:
        return "No one here has this email."
    if len(people) > 1:
        return "Several people here have this email."
    return "Several people in PagerDuty have this email." if emails.key_of(user.email) in twins else ""


def _refused(person: Person, taken: Collection[int]) -> str:
    """Say why an email does not prove that someone is this person."""
    if not person.can_join:
        return f"This email belongs to {_what(person)}."
    return f"{person.name} is already matched to another PagerDuty user." if person.pk in taken else ""


def unmatched() -> dict[int, Meeting]:
    """Look for a match for every unmatched user of the pager; by row id, in a few queries."""
    users = list(PagerUser.objects.filter(person=None, gone=False).select_related("matched_by"))
    met = _meetings(users)
    return met | {user.pk: OURS for user in users if is_ours(user)}


def is_ours(user: PagerUser) -> bool:
    """Return whether pages are opened as this user."""
    given = settings.FIREKIND.pagerduty
    return given is not None and emails.same(user.email, given.sender)


def barred(user: PagerUser) -> str:
    """Say why a pager user cannot be brought in; empty for those who can, and for the user who opens our pages."""
    if user.person is None:
        return "" if is_ours(user) else "they are not matched to anyone here"
    if not user.person.can_join:
        return f"they are {_what(user.person)} here"
    return "" if user.person.chat_id else f"{user.person.name} has no Slack account"


def our_ids() -> frozenset[str]:
    """Return the pager's ids of the user that opens our pages; empty while that is unknown."""
    given = settings.FIREKIND.pagerduty
    found = emails.having(PagerUser.objects.all(), given.sender) if given else []
    return frozenset(user.pager_id for user in found)


def join(*, at: datetime) -> bool:
    """Match everyone we can by email; return whether there was anyone. Users unlinked by hand are left alone.

    The caller holds a lock against other readers of the pager.
    """
    _free_the_hollow()
    users = list(PagerUser.objects.filter(person=None, gone=False, matched=Matched.NOT).exclude(email=""))
    met = {pk: meeting.person for pk, meeting in _meetings(users).items() if meeting.person is not None}
    for pk, person in met.items():
        PagerUser.objects.filter(pk=pk, person=None).update(person=person, matched=Matched.EMAIL, matched_at=at)
    return bool(met)


@transaction.atomic
def match(user: PagerUser, *, person: Person, by: Person, at: datetime, second: Person | None = None) -> None:
    """Match a pager user to a person by hand; open incidents are replanned. Raises ``BadInput``.

    That person joins when paged or on call, also in private incidents, so a second manager confirms it.
    """
    if not person.can_join:
        raise lifecycle.BadInput("person", f"{person.name} cannot be brought in: they are {_what(person)}.")
    seconding.hold()
    agreed = seconding.agree(by=by, second=second) if circles.there_are() else ""
    _pin(user, person=person, matched=Matched.HAND, by=by, agreed=agreed, at=at)


@transaction.atomic
def part(user: PagerUser, *, by: Person, at: datetime) -> None:
    """Unlink the two by hand; they are not matched by email again."""
    _pin(user, person=None, matched=Matched.PARTED, by=by, at=at)


def _pin(
    user: PagerUser, *, person: Person | None, matched: Matched, by: Person, at: datetime, agreed: str = ""
) -> None:
    PagerUser.objects.filter(pk=user.pk).update(person=person, matched=matched, matched_by=by, matched_at=at)
    audit_notes.note("match", by=by, about=user.name, user=user.pager_id, person=person.pk if person else None)
    says = person.name if person else "no one here"
    circles.announce("", by=by, about=f"the match for {user.name} in PagerDuty", says=says, agreed=agreed, at=at)
    for incident in Incident.objects.filter(active=True).only("pk"):
        hints.tell_again(incident)


def _meetings(users: Iterable[PagerUser]) -> dict[int, Meeting]:
    users = list(users)
    if not users:
        return {}
    people = _by_email({key for user in users if (key := emails.key_of(user.email))})
    known = PagerUser.objects.filter(gone=False)
    taken = set(known.exclude(person=None).values_list("person_id", flat=True))
    counted = Counter(emails.key_of(email) for email in known.exclude(email="").values_list("email", flat=True))
    twins = {key for key, count in counted.items() if count > 1}
    return {
        user.pk: _parted(user)
        if user.matched == Matched.PARTED
        else meet(user, people=people.get(emails.key_of(user.email), ()), taken=taken, twins=twins)
        for user in users
    }


def _by_email(keys: Collection[str]) -> Mapping[str, list[Person]]:
    """Find people by the keys of addresses, compared as `emails` does; PostgreSQL's folding only narrows it down."""
    found: dict[str, list[Person]] = defaultdict(list)
    for person in Person.objects.annotate(low=Lower("email")).filter(low__in=keys):
        if (key := emails.key_of(person.email)) in keys:
            found[key].append(person)
    return found


def _parted(user: PagerUser) -> Meeting:
    by = f" by {user.matched_by.name}" if user.matched_by is not None else " by hand"
    return Meeting(says=f"Unlinked{by}: not matched by email again.")


def _free_the_hollow() -> None:
    """Unlink accounts merged into a Slack person, whose own rows are empty."""
    pinned = PagerUser.objects.filter(matched__in=[Matched.EMAIL, Matched.HAND])
    hollow = pinned.filter(person__chat_id=None, person__user=None, person__email="", person__isnull=False)
    hollow.update(person=None, matched=Matched.NOT, matched_at=None, matched_by=None)


def _what(person: Person) -> str:
    return next(says for field, says in NEVER if getattr(person, field))
