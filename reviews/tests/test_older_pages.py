"""What is sent from a review page older than someone's change neither moves nor publishes anything unseen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from reviews import editing
from reviews.models import Review

NOW = timezone.now()
Does = Callable[[Incident, Person], object]


def planned(incident: Incident, by: Person) -> None:
    editing.plan_meeting(incident, on=NOW + timedelta(days=2), by=by, at=NOW)


def written(incident: Incident, by: Person) -> None:
    editing.write(incident, section="summary", text="The password is hunter2", seen="0.0", by=by, at=timezone.now())


def nothing(incident: Incident, by: Person) -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    ("before", "meanwhile", "sent", "says"),
    [
        (nothing, planned, {"to": "meeting"}, "planned the meeting"),
        (written, planned, {"to": "meeting"}, "planned the meeting"),
        (planned, written, {"to": "meeting"}, ""),
        (nothing, nothing, {"to": "meeting"}, ""),
        (nothing, written, {"to": "published"}, "changed this review"),
        (planned, written, {"to": "published"}, "changed this review"),
        (written, nothing, {"to": "published"}, ""),
        (nothing, nothing, {"to": "published"}, ""),
    ],
)
def test_an_older_page_is_told_and_may_send_it_again(
    incident: Incident, ada: Person, ben: Person, browse: Open, *, before: Does, meanwhile: Does, sent: Any, says: str
) -> None:
    lifecycle.resolve(incident, by=ada, at=NOW)
    before(incident, ben)
    client, here = browse(ada), f"/incidents/{incident.codename}/review"
    to = str(sent["to"])
    on = NOW + timedelta(days=9)
    sent = sent | ({"on": f"{on:%Y-%m-%dT%H:%M}", "zone": "UTC"} if to == "meeting" else {})
    seen = seen_by(client.get(here).content.decode(), to)
    meanwhile(incident, ben)
    answer = client.post(f"{here}/state", sent | {"seen": seen})
    review = Review.objects.filter(incident=incident).first()
    standing = review.standing if review else ""
    is_done = standing.startswith(to) and (to != "meeting" or f"{on:%Y-%m-%d}" in standing)
    assert is_done == (not says)
    assert says in answer.content.decode()
    if says:
        client.post(f"{here}/state", sent | {"seen": seen_by(answer.content.decode(), to)})
        assert Review.objects.get(incident=incident).state == to


def seen_by(page: str, to: str) -> str:
    """Return the hidden state in the form that sends this."""
    form = next(one for one in page.split("<form")[1:] if f'value="{to}"' in one.split("</form>")[0])
    return form.split('name="seen"', 1)[1].split('value="', 1)[1].split('"', 1)[0]
