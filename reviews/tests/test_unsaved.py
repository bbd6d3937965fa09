"""Text that a review does not accept is in the answer, even for a browser without scripts."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from reviews import editing

LONG = "precious words, " * 700
SENT = {
    "hard": {"text": "precious words", "seen": "7.7"},
    "summary/comment": {"comment": "precious words"},
    "state": {"to": "meeting", "on": "2026-12-24T10:00"},
}
TOO_MUCH = {
    "hard": {"text": LONG, "seen": "0.0"},
    "summary/comment": {"comment": LONG},
    "state": {"to": "meeting", "on": "2099-12-24T10:00"},
}


@pytest.mark.parametrize("door", SENT)
@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("reopened", [True, False])
def test_what_is_not_taken_is_given_back(
    door: str, begun: bool, reopened: bool, incident: Incident, ada: Person, browse: Open
) -> None:
    lifecycle.resolve(incident, by=ada, at=timezone.now())
    if begun:
        editing.write(incident, section="hard", text="by then", seen="0.0", by=ada, at=timezone.now())
    if reopened:
        lifecycle.reopen(incident, by=ada, at=timezone.now())
    answers = [browse(ada).post(f"{incident.get_absolute_url()}review/{door}", one[door]) for one in (SENT, TOO_MUCH)]
    for sent, answer in zip((SENT[door], TOO_MUCH[door]), answers, strict=True):
        *_, typed = sorted(sent.values(), key=len)
        assert answer.status_code == 302 or typed in answer.content.decode()
    assert answers[-1].status_code == 422
