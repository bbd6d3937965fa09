"""PostgreSQL goes away at COMMIT: no one knows whether it was recorded, and what is then sent again is stored once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from django.conf import settings as project
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from evidence.intake import receiving, tokens
from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import Event, Followup, Incident, Person
from incidents.outages import database_watch
from incidents.tests import shipped
from reviews import editing
from reviews.models import ReviewComment

FOLDED = b"main;work 3\nmain;rest 1\n"


@contextmanager
def commits_unanswered(module: Any, verb: str) -> Iterator[None]:
    """Make the database go away after it carried out a verb's commit and before it said so."""
    does = getattr(module, verb)

    def unanswered(*given: Any, **more: Any) -> None:
        does(*given, **more)
        raise OperationalError from psycopg.errors.AdminShutdown()

    with patch.object(module, verb, unanswered), patch.object(database_watch, "answers", lambda: False):
        yield


@dataclass(slots=True)
class Sender:
    """Ada, who sends the same thing again when it was not answered."""

    client: Client
    incident: Incident
    secret: str
    borne: str = ""
    since: str = field(default_factory=lambda: str(int(timezone.now().timestamp())))

    def form(self, verb: str, **given: Any) -> Any:
        """Send a form of the incident's page as shown."""
        return self.client.post(f"{self.incident.get_absolute_url()}{verb}", {"since": "1", **given})

    def add(self, **given: Any) -> Any:
        """Send a form of the evidence page as shown while there is none."""
        return self.client.post(f"{self.incident.get_absolute_url()}evidence/add", {"since": "0", **given})

    def comment(self) -> Any:
        """Send a comment on a review from its page, once the incident has ended."""
        if self.incident.is_active:
            self.incident = lifecycle.resolve(self.incident, text="", by=None, at=timezone.now())
        page = self.borne or self.client.get(f"{self.incident.get_absolute_url()}review").content.decode()
        self.borne = page
        form = page[page.index("/review/hard/comment") :]
        given = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w*)"', form[: form.index("</form>")]))
        return self.client.post(f"{self.incident.get_absolute_url()}review/hard/comment", {**given, "comment": "Why?"})

    def declare(self) -> Any:
        """Send the form that declares."""
        return self.client.post("/declare", {"title": "Search is slow", "since": self.since})

    def upload(self, **about: str) -> Any:
        """Send a file as a program does."""
        address = f"/api/v1/incidents/{self.incident.codename}/evidence?title={about.get('title', 'CPU')}"
        bearer = {"Authorization": f"Bearer {self.secret}"}
        return self.client.post(address, FOLDED, content_type="application/octet-stream", headers=bearer)


@pytest.fixture
def sender(db: None, tmp_path: Path, settings: Settings) -> Sender:
    settings.FIREKIND = replace(project.FIREKIND, evidence_storage=str(tmp_path / "evidence"))
    shipped.bring()
    user = User.objects.create_user("ada")
    ada = Person.objects.create(name="Ada", chat_id="UADA", user=user)
    incident = lifecycle.declare("Checkout is slow", by=ada, at=timezone.now())
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return Sender(client, incident, tokens.issue(ada, at=timezone.now()).secret)


WAYS: dict[str, tuple[Any, str, Callable[[Sender], Any], Callable[[], int]]] = {
    "a note": (
        *(lifecycle, "note", lambda by: by.form("note", text="it was the cache")),
        lambda: Event.objects.filter(kind="noted").count(),
    ),
    "a follow-up": (
        *(lifecycle, "add_followup", lambda by: by.form("follow-up", text="Write a test")),
        Followup.objects.count,
    ),
    "a status update": (
        *(lifecycle, "update", lambda by: by.form("update", text="We roll back")),
        lambda: Event.objects.filter(kind="updated").count(),
    ),
    "a comment on a review": (editing, "comment", Sender.comment, ReviewComment.objects.count),
    "a declaration": (lifecycle, "declare", Sender.declare, Incident.objects.filter(title="Search is slow").count),
    "evidence by REST": (receiving, "receive", Sender.upload, Evidence.objects.count),
    "evidence on the page": (
        *(receiving, "receive", lambda by: by.add(file=SimpleUploadedFile("cpu.folded", FOLDED), variant="pooled")),
        Evidence.objects.count,
    ),
    "a link on the page": (
        *(receiving, "add_link", lambda by: by.add(link="https://grafana.example.com/d/1", title="Latency")),
        Event.objects.filter(kind="evidence").count,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_sent_again_is_kept_once_and_nothing_untrue_is_said(sender: Sender, way: str) -> None:
    module, verb, send, kept = WAYS[way]
    with commits_unanswered(module, verb):
        answer = send(sender)
    assert answer.status_code == 503, answer.content
    assert "may not have been" in answer.content.decode()
    assert kept() == 1
    assert send(sender).status_code in {201, 302, 422}  # the last one checks what was said meanwhile
    assert kept() == 1


def test_what_differs_in_anything_is_evidence_of_its_own(sender: Sender) -> None:
    for title in ("CPU", "CPU again", "CPU"):
        assert sender.upload(title=title).status_code == 201
    assert sorted(Evidence.objects.values_list("title", flat=True)) == ["CPU", "CPU again"]


def test_what_is_added_from_a_page_that_shows_it_is_evidence_of_its_own(sender: Sender) -> None:
    address = f"{sender.incident.get_absolute_url()}evidence/"
    for count in (1, 2):
        shown = re.findall(r'name="since" value="(\d+)"', sender.client.get(address).content.decode())
        assert len(shown) == 2
        for since in shown:
            assert sender.add(link="https://grafana.example.com/d/1", since=since).status_code == 302
        assert Evidence.objects.count() == count


def test_a_link_that_is_typed_again_in_slack_is_one(sender: Sender) -> None:
    ada, at = Person.objects.get(name="Ada"), timezone.now()
    given: dict[str, Any] = {"link": "https://grafana.example.com/d/1", "title": "", "by": ada, "via": "slack"}
    first, again = (receiving.add_link(sender.incident, **given, at=at + timedelta(minutes=n)) for n in (0, 2))
    assert first == again
    assert receiving.add_link(sender.incident, **given, at=at + timedelta(minutes=20)) != first
