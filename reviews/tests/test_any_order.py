"""Whatever people write, compose again and redact, in any order: all their words stay, except redacted ones.

Each step is one of two people with a page that may be outdated: refused text is sent again below the current one.
"""

from __future__ import annotations

from typing import Any

from django.core import serializers
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Event, Incident, Person
from reviews import editing, reading
from reviews.models import ReviewComment, SectionText

STEPS = st.lists(st.sampled_from(["write", "stale", "quote", "comment", "note", "again", "redact"]), max_size=8)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=STEPS)
@example(steps=["write", "note", "quote", "redact", "stale", "again", "comment"])
def test_every_word_of_theirs_stays_and_none_that_was_redacted(
    incident: Incident, ada: Person, ben: Person, steps: list[str]
) -> None:
    with transaction.atomic():
        lifecycle.set_lead(incident, lead=ada, by=ada, at=timezone.now())
        ended = lifecycle.resolve(incident, text="rolled back", by=ada, at=timezone.now())
        _played(ended, ada, ben, steps)
        transaction.set_rollback(True)


def _played(incident: Incident, ada: Person, ben: Person, steps: list[str]) -> None:
    about: dict[str, Any] = {"by": ben, "at": timezone.now()}
    kept, gone, secrets = [], [], []
    for turn, step in enumerate(steps):
        incident.refresh_from_db()
        word = f"word{turn}word"
        if step == "note":
            secrets.append((lifecycle.note(incident, text=f"the key is secret{turn}", **about).n, f"secret{turn}"))
        elif step == "redact" and secrets:
            n, secret = secrets.pop()
            lifecycle.redact(incident, n=n, by=ada, at=timezone.now())
            gone.append(secret)
        elif step == "again":
            editing.write_again(incident, section="narrative", to=incident.last_n, **about)
        elif step == "comment":
            editing.comment(incident, section="hard", text=word, **about)
            kept.append(word)
        elif step in {"write", "stale", "quote"}:
            quoted = f" the key is {secrets[-1][1]}" if step == "quote" and secrets else ""
            _write(incident, f"{word}{quoted} {word}", about, is_old=step == "stale")
            kept.append(word)
    _holds(incident, ada, kept, gone)


def _write(incident: Incident, text: str, about: dict[str, Any], *, is_old: bool) -> None:
    shown = next(one for one in reading.of(incident, reader=about["by"]).parts if one.kind.key == "summary")
    sent: dict[str, Any] = {"section": "summary", "seen": "0.-1" if is_old else shown.seen, **about}
    try:
        editing.write(incident, text=f"{shown.text}\n{text}" if shown.text else text, **sent)
    except editing.EditedMeanwhile:
        editing.write(incident, text=text, below=True, **sent)


def _holds(incident: Incident, reader: Person, kept: list[str], gone: list[str]) -> None:
    fresh = Incident.objects.get(pk=incident.pk)
    document = reading.of(fresh, reader=reader)
    shown = str([(one.text, [comment.text for comment in one.comments]) for one in document.parts])
    assert not [word for word in kept if word not in shown]
    rows = [*SectionText.objects.all(), *ReviewComment.objects.all()]
    everything = serializers.serialize("json", rows) + str(document)
    assert not [secret for secret in gone if secret in everything]
    standing = set(Event.objects.filter(incident=incident, redacted=None).values_list("n", flat=True))
    named = {
        n for part in document.parts for passage in part.passages for one in passage.sentences for n in one.backed_by
    }
    assert named <= standing
