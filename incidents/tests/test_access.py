"""Access requests get one answer for hidden and missing incidents; people inside decide; a refusal is silent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Entry
from incidents import lifecycle, visibility
from incidents.models import AccessRequest, Event, Incident, Knock, Participant, Person
from incidents.models.people import Role
from incidents.tests.conftest import Open

WHY = "I wrote the service that it is about"


def knock(codename: str, person: Person, *, at: datetime | None = None, because: str = WHY) -> None:
    at = at or timezone.now()
    lifecycle.ask_in(codename, person=person, because=because, at=at)
    lifecycle.carry(at=at)


def asked(incident: Incident) -> AccessRequest:
    return AccessRequest.objects.get(incident=incident, let_in=None)


def kinds(incident: Incident) -> list[str]:
    return list(Event.objects.filter(incident=incident).order_by("n").values_list("kind", flat=True))


def told(response: Any, codename: str) -> tuple[int, dict[str, str], str]:
    """Return a response without the name that the browser sent and the token of its form."""
    said = response.content.decode().replace(codename, "NAME")
    lines = [line for line in said.splitlines() if "csrfmiddlewaretoken" not in line and "csrf" not in line]
    headers = {name: value.replace(codename, "NAME") for name, value in response.items() if name != "Content-Length"}
    return response.status_code, headers, "\n".join(lines)


def open_again() -> None:
    Knock.objects.update(at=timezone.now() - timedelta(hours=1))


@pytest.mark.parametrize("address", ["/access/{}", "/access/{}?asked", "/access/{}/now", "/incidents/{}/"])
def test_a_page_about_a_hidden_incident_is_the_page_about_none(
    address: str, secret: Incident, eve: Person, browse: Open
) -> None:
    client = browse(eve)
    one, other = (told(client.get(address.format(name)), name) for name in (secret.codename, "quiet-heron"))
    assert one == other
    assert secret.title not in str(one)


def test_asking_is_answered_alike_with_the_same_work(secret: Incident, eve: Person, browse: Open) -> None:
    client, answers, work = browse(eve), [], []
    for name in (secret.codename, "quiet-heron"):
        open_again()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answers.append(told(client.post(f"/access/{name}", {"because": WHY}), name))
        work.append([one["sql"].split(" WHERE ")[0][:40] for one in queries.captured_queries])
    assert answers[0] == answers[1]
    assert answers[0][0] == 302
    assert work[0] == work[1]


def test_nothing_stays_of_a_codename_that_is_none(secret: Incident, eve: Person) -> None:
    knock("quiet-heron", eve)
    assert not AccessRequest.objects.exists()
    left = Knock.objects.get()
    assert (left.codename, left.because) == ("", "")


def test_what_one_may_see_is_opened_instead(incident: Incident, secret: Incident, ben: Person, browse: Open) -> None:
    for one in (incident, secret):
        assert browse(ben).get(f"/access/{one.codename}")["Location"] == one.get_absolute_url()
        assert browse(ben).post(f"/access/{one.codename}", {"because": WHY})["Location"] == one.get_absolute_url()
    assert not Knock.objects.exists()


def test_one_asks_once_in_fifteen_minutes_whatever_for(secret: Incident, eve: Person, browse: Open) -> None:
    at = timezone.now()
    knock("quiet-heron", eve, at=at)
    with pytest.raises(lifecycle.Refused, match=r"at \d\d:\d\d UTC\. You can send one request every 15 minutes"):
        knock(secret.codename, eve, at=at + timedelta(minutes=14))
    assert not AccessRequest.objects.exists()
    response = browse(eve).post(f"/access/{secret.codename}", {"because": WHY})
    assert response.status_code == 422
    assert "again in 15 minutes" in response.content.decode()
    knock(secret.codename, eve, at=at + timedelta(minutes=15))
    assert asked(secret).person == eve


@pytest.mark.parametrize(
    ("trait", "who"),
    [("is_guest", "Guests"), ("is_external", "People from other workspaces"), ("is_bot", "Apps")],
)
def test_guests_ask_nobody_and_break_no_glass(trait: str, who: str, secret: Incident, eve: Person) -> None:
    setattr(eve, trait, True)
    eve.save()
    for name in (secret.codename, "quiet-heron"):
        with pytest.raises(lifecycle.Refused, match=who):
            knock(name, eve)
        with pytest.raises(lifecycle.Refused, match=who):
            lifecycle.break_glass(name, by=eve, because="I really must see it now", at=timezone.now())


def test_a_reason_is_needed(secret: Incident, eve: Person, browse: Open) -> None:
    assert browse(eve).post(f"/access/{secret.codename}", {"because": " "}).status_code == 422
    assert not Knock.objects.exists()


def test_a_404_leads_to_asking_for_what_was_looked_for(secret: Incident, eve: Person, browse: Open) -> None:
    client = browse(eve)
    assert 'href="/access/"' in client.get(f"/incidents/{secret.codename}/").content.decode()
    assert 'href="/access/"' not in client.get("/no/such/page").content.decode()
    page = client.get("/access/", headers={"Referer": "http://testserver/incidents/quiet-heron/"}).content.decode()
    assert 'action="/access/quiet-heron"' in page
    assert 'name="codename"' in client.get("/access/").content.decode()
    named = client.post("/access/", {"codename": "Quiet-Heron", "because": WHY})
    assert named["Location"] == "/access/quiet-heron?asked"


def test_who_is_let_in_is_brought_in(secret: Incident, ben: Person, eve: Person) -> None:
    knock(secret.codename, eve)
    lifecycle.let_in(secret, n=asked(secret).n, by=ben, at=timezone.now())
    assert Participant.objects.get(incident=secret, person=eve).reason == Participant.Reason.LET_IN
    assert visibility.may_see(eve, secret)
    assert kinds(secret)[-2:] == ["asked_in", "let_in"]


def test_a_refusal_is_silent(secret: Incident, ben: Person, eve: Person, browse: Open) -> None:
    client = browse(eve)
    addresses = [
        f"/access/{secret.codename}",
        f"/access/{secret.codename}?asked",
        "/",
        f"/incidents/{secret.codename}/",
    ]
    knock(secret.codename, eve)
    before = [told(client.get(address), secret.codename) for address in addresses]
    lifecycle.turn_away(secret, n=asked(secret).n, by=ben, at=timezone.now())
    assert [told(client.get(address), secret.codename) for address in addresses] == before
    assert not visibility.may_see(eve, secret)
    assert kinds(secret)[-1] == "turned_away"


def test_the_first_answer_counts(secret: Incident, ada: Person, ben: Person, eve: Person) -> None:
    knock(secret.codename, eve)
    n = asked(secret).n
    lifecycle.turn_away(secret, n=n, by=ben, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="Ben already answered “not now”"):
        lifecycle.let_in(secret, n=n, by=ada, at=timezone.now())
    assert not visibility.may_see(eve, secret)


def test_who_waits_is_not_announced_twice(secret: Incident, eve: Person) -> None:
    at = timezone.now()
    knock(secret.codename, eve, at=at)
    knock(secret.codename, eve, at=at + timedelta(hours=1))
    assert kinds(secret).count("asked_in") == 1


def test_only_those_who_take_part_answer(secret: Incident, eve: Person) -> None:
    knock(secret.codename, eve)
    with pytest.raises(lifecycle.NotThere):
        lifecycle.let_in(secret, n=asked(secret).n, by=eve, at=timezone.now())
    assert not visibility.may_see(eve, secret)


def test_it_is_answered_on_the_page(secret: Incident, ben: Person, eve: Person, browse: Open) -> None:
    knock(secret.codename, eve)
    client = browse(ben)
    assert WHY in client.get(f"/incidents/{secret.codename}/access").content.decode()
    form = client.get(f"/incidents/{secret.codename}/let-in?n={asked(secret).n}").content.decode()
    assert f"Eve: {WHY}" in form
    client.post(f"/incidents/{secret.codename}/let-in", {"n": asked(secret).n})
    assert visibility.may_see(eve, secret)
    assert WHY not in client.get(f"/incidents/{secret.codename}/access").content.decode()


def test_the_second_answer_is_told_of_the_first_on_the_page(
    secret: Incident, ada: Person, ben: Person, eve: Person, browse: Open
) -> None:
    knock(secret.codename, eve)
    n = asked(secret).n
    lifecycle.turn_away(secret, n=n, by=ben, at=timezone.now())
    response = browse(ada).post(f"/incidents/{secret.codename}/let-in", {"n": n})
    assert response.status_code == 422
    said = response.content.decode()
    assert "Ben already answered “not now”" in said
    assert f"Eve: {WHY}" in said


class TestGlass:
    because = "Our keys are on a public page and I can revoke them."

    def test_it_opens_at_once_and_its_people_are_told(self, secret: Incident, eve: Person, browse: Open) -> None:
        response = browse(eve).post(f"/access/{secret.codename}/now", {"because": self.because})
        assert response["Location"] == secret.get_absolute_url()
        event = Event.objects.get(incident=secret, kind="glass")
        assert (event.by, event.text) == (eve, self.because)
        assert Participant.objects.get(incident=secret, person=eve).reason == Participant.Reason.GLASS

    def test_what_is_not_private_or_not_there_is_answered_in_words(
        self, incident: Incident, secret: Incident, eve: Person, ben: Person
    ) -> None:
        for name, who in (("quiet-heron", eve), (incident.codename, eve), (secret.codename, ben)):
            with pytest.raises(lifecycle.Refused, match="No private incident has that codename"):
                lifecycle.break_glass(name, by=who, because=self.because, at=timezone.now())

    def test_each_try_is_in_the_audit(self, secret: Incident, eve: Person) -> None:
        with pytest.raises(lifecycle.Refused):
            lifecycle.break_glass("quiet-heron", by=eve, because=self.because, at=timezone.now())
        lifecycle.break_glass(secret.codename, by=eve, because=self.because, at=timezone.now())
        noted = Entry.objects.filter(kind="glass-broken", by=eve.pk).order_by("n")
        assert [(one.about, one.data["found"]) for one in noted] == [("quiet-heron", False), (secret.codename, True)]

    def test_auditors_break_none(self, secret: Incident, eve: Person) -> None:
        eve.role = Role.AUDITOR
        with pytest.raises(lifecycle.Refused, match="Auditors"):
            lifecycle.break_glass(secret.codename, by=eve, because=self.because, at=timezone.now())

    def test_a_sentence_of_reason_is_needed(self, secret: Incident, eve: Person, browse: Open) -> None:
        response = browse(eve).post(f"/access/{secret.codename}/now", {"because": "let me in"})
        assert response.status_code == 422
        assert not visibility.may_see(eve, secret)

    def test_what_they_asked_before_is_answered_by_it(self, secret: Incident, eve: Person) -> None:
        knock(secret.codename, eve)
        lifecycle.break_glass(secret.codename, by=eve, because=self.because, at=timezone.now())
        assert not AccessRequest.objects.filter(let_in=None).exists()


def test_nobody_unknown_asks_or_breaks_anything(secret: Incident) -> None:
    for address in (f"/access/{secret.codename}", f"/access/{secret.codename}/now", "/access/", "/summaries/no-such"):
        assert Client().get(address)["Location"].startswith("/sign-in/")
