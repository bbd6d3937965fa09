"""Bring in people who take a page, or say why not and how to fix that."""

from __future__ import annotations

from datetime import datetime

from incidents import lifecycle
from incidents.models import Incident, Participant, Person, Source
from workflows.models import Page, PagerUser
from workflows.oncall.pager_events import ACKNOWLEDGED, PagerEvent, Who
from workflows.planning import pages


def _on_it(news: PagerEvent) -> tuple[Who, ...]:
    """Return who takes it by this news: the person who acknowledged, or those who accepted a request to join."""
    if news.ours:
        return ()
    if news.kind == ACKNOWLEDGED and news.by is not None:
        return (news.by,)
    return news.people if news.joins else ()


def bring_in(page: Page, news: PagerEvent, *, at: datetime) -> None:
    """Bring in who takes it; into a private incident, only by acknowledging a page that the incident still asks for."""
    incident = page.incident
    if not incident.is_active:
        return
    people = [person for who in _on_it(news) if (person := person_of(who)) is not None]
    people = [person for person in people if _may_come(page, person, news)]
    if people:
        did = "acknowledged" if news.kind == ACKNOWLEDGED else "answered"
        because = f"{did} the page to {page.name}"
        lifecycle.bring_in(incident, people=people, by=None, at=at, source=Source.SYSTEM, because=because)


def _may_come(page: Page, person: Person, news: PagerEvent) -> bool:
    """Return whether taking a page brings someone in, however often it was escalated before it reached them.

    A private incident opens to people who acknowledged, but not to those who only accepted a call for help, because
    anyone in the pager can ask anyone. It does not reopen to people who left by hand, and old news brings no one back.
    """
    if not person.can_join or _left_since(page.incident, person, since=news.at):
        return False
    if not page.incident.private:
        return True
    return news.kind == ACKNOWLEDGED and _is_stood_behind(page) and not _went(page.incident, person)


def _is_stood_behind(page: Page) -> bool:
    """Return whether the incident asks for a page as it is now: its type does, or it was opened under that type."""
    incident = page.incident
    if page.opened_at >= incident.typed_at:
        return True
    return any(pages.is_meant(name, name=page.name, ref=page.target) for name in incident.policy.pages)


def _went(incident: Incident, person: Person) -> bool:
    return Participant.objects.filter(incident=incident, person=person, went=True).exists()


def _left_since(incident: Incident, person: Person, *, since: datetime) -> bool:
    """Return whether someone left, or was shut out, after this news: old news brings no one back."""
    return Participant.objects.filter(incident=incident, person=person, left_at__gte=since).exists()


def outsiders(page: Page, news: PagerEvent) -> str:
    """Say who took it but cannot follow it here, and how to fix that; empty if everyone can."""
    said = [_outside(page, who, news) for who in _on_it(news)] if page.incident.is_active else []
    return " ".join(filter(None, said))


def _outside(page: Page, who: Who, news: PagerEvent) -> str:
    person = person_of(who)
    if person is None and not who.id:
        return ""
    if person is None:
        return f"{name_of(who)} is not matched to anyone here, so they were not brought in: match them under On-call"
    if _takes_part(page.incident, person) or _may_come(page, person, news):
        return ""
    if not page.incident.private:
        return "" if person.can_join else f"{person.name} cannot be brought in: invite them to the channel by hand"
    return (
        f"{person.name} is not in this private incident and cannot see it: "
        "bring them in on its page, or invite them to its channel"
    )


def _takes_part(incident: Incident, person: Person) -> bool:
    return Participant.objects.filter(incident=incident, person=person, left_at=None).exists()


def person_of(who: Who | None) -> Person | None:
    """Return the person matched with a pager user; None if there is none."""
    user = user_of(who) if who else None
    return user.person if user else None


def name_of(who: Who) -> str:
    """Return a name for them: as the pager gave it, else as we know it."""
    user = None if who.name else user_of(who)
    return who.name or (user.name if user else "Somebody")


def user_of(who: Who) -> PagerUser | None:
    """Return our row for a pager user, by id, which is how they were matched, never by name."""
    return PagerUser.objects.filter(pager_id=who.id).select_related("person").first() if who.id else None
