"""A private incident publishes a summary that two people wrote and confirmed, and nothing else becomes public."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import Incident, Person, Summary
from incidents.tests.conftest import Open

TEXT = "A token was visible for an hour.\nNobody used it, and it was revoked."


def written(incident: Incident, by: Person, text: str = TEXT) -> Summary:
    return lifecycle.open_up(incident, summary=text, by=by, at=timezone.now())


def led(incident: Incident, by: Person) -> Incident:
    return lifecycle.set_lead(incident, lead=by, by=by, at=timezone.now())


def test_the_lead_confirms_what_somebody_else_wrote(secret: Incident, ada: Person, ben: Person, eve: Person) -> None:
    led(secret, ada)
    row = written(secret, ben)
    assert not Summary.objects.exclude(codename="").exists()
    with pytest.raises(lifecycle.Refused, match="You wrote this summary, so Ada"):
        lifecycle.publish(secret, summary=row.pk, by=ben, at=timezone.now())
    with pytest.raises(lifecycle.NotThere):
        lifecycle.publish(secret, summary=row.pk, by=eve, at=timezone.now())
    done = lifecycle.publish(secret, summary=row.pk, by=ada, at=timezone.now())
    assert done.codename not in {"", secret.codename}


def test_what_the_lead_wrote_somebody_else_confirms(secret: Incident, ada: Person, ben: Person) -> None:
    led(secret, ada)
    row = written(secret, ada)
    with pytest.raises(lifecycle.Refused, match="another participant"):
        lifecycle.publish(secret, summary=row.pk, by=ada, at=timezone.now())
    assert lifecycle.publish(secret, summary=row.pk, by=ben, at=timezone.now()).reviewed_by == ben


def test_whoever_does_not_lead_cannot_confirm_in_the_leads_place(
    secret: Incident, ada: Person, ben: Person, eve: Person
) -> None:
    led(secret, ada)
    lifecycle.bring_in(secret, people=[eve], by=ada, at=timezone.now())
    row = written(secret, ben)
    with pytest.raises(lifecycle.Refused, match="Ada is the lead"):
        lifecycle.publish(secret, summary=row.pk, by=eve, at=timezone.now())


def test_taking_the_lead_does_not_make_two_people_of_one(secret: Incident, ada: Person, ben: Person) -> None:
    row = written(secret, ben)
    led(secret, ben)
    with pytest.raises(lifecycle.Refused, match="You wrote"):
        lifecycle.publish(secret, summary=row.pk, by=ben, at=timezone.now())


def test_what_was_written_anew_is_read_anew(secret: Incident, ada: Person, ben: Person) -> None:
    row = written(secret, ben)
    written(secret, ben, "Something else.")
    with pytest.raises(lifecycle.Refused, match="rewritten"):
        lifecycle.publish(secret, summary=row.pk, by=ada, at=timezone.now())


def test_a_confirmation_that_comes_too_late_shows_what_is_written_now(
    secret: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    before = written(secret, ben)
    now = written(secret, ben, "Something else.")
    client, address = browse(ada), f"/incidents/{secret.codename}/publish"
    response = client.post(address, {"summary": before.pk})
    assert response.status_code == 422
    said = response.content.decode()
    assert "Something else." in said
    assert f'value="{now.pk}-' in said
    assert client.post(address, {"summary": now.pk}).status_code == 302


def test_everybody_reads_the_words_and_nothing_else(
    secret: Incident, ada: Person, ben: Person, eve: Person, browse: Open
) -> None:
    done = lifecycle.publish(secret, summary=written(secret, ben).pk, by=ada, at=timezone.now())
    said = browse(eve).get(done.get_absolute_url()).content.decode()
    assert "Nobody used it, and it was revoked." in said
    for word in (secret.title, secret.codename, "Ada", "Ben"):
        assert word not in said
    assert not visibility.may_see(eve, secret)
    assert browse(eve).get(f"/incidents/{done.codename}/").status_code == 404
    assert browse(eve).get(f"/incidents/{secret.codename}/").status_code == 404


def test_nobody_reads_it_before_it_is_confirmed(secret: Incident, ben: Person, eve: Person, browse: Open) -> None:
    written(secret, ben)
    assert browse(eve).get("/summaries/no-such").status_code == 404
    Person.objects.filter(pk=eve.pk).update(is_guest=True)
    assert browse(eve).get("/summaries/no-such").status_code == 404


def test_a_second_one_takes_the_place_of_the_first(
    secret: Incident, ada: Person, ben: Person, eve: Person, browse: Open
) -> None:
    first = lifecycle.publish(secret, summary=written(secret, ben).pk, by=ada, at=timezone.now())
    second = lifecycle.publish(secret, summary=written(secret, ada, "It was used.").pk, by=ben, at=timezone.now())
    assert second.codename == first.codename
    said = browse(eve).get(first.get_absolute_url()).content.decode()
    assert "It was used." in said
    assert "revoked" not in said


def test_it_must_not_name_the_incident(secret: Incident, ben: Person) -> None:
    with pytest.raises(lifecycle.BadInput, match="Remove"):
        written(secret, ben, f"About {secret.codename.upper()}: all is well.")


def test_a_public_incident_has_nothing_to_open(incident: Incident, ada: Person) -> None:
    with pytest.raises(lifecycle.Refused, match="already public"):
        written(incident, ada)


def test_it_is_written_and_confirmed_on_the_page(secret: Incident, ada: Person, ben: Person, browse: Open) -> None:
    at = f"/incidents/{secret.codename}"
    browse(ben).post(f"{at}/open-up", {"summary": TEXT})
    assert "Confirm and publish" not in browse(ben).get(f"{at}/access").content.decode()
    assert "Confirm and publish" in browse(ada).get(f"{at}/access").content.decode()
    form = browse(ada).get(f"{at}/publish").content.decode()
    assert "Nobody used it" in form
    browse(ada).post(f"{at}/publish", {"summary": Summary.objects.get().pk})
    codename = Summary.objects.get().codename
    assert f"/summaries/{codename}" in browse(ben).get(f"{at}/access").content.decode()
