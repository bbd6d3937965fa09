"""People who wait for the lock while an incident becomes private are shut out or proceed; no one gets a 500."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.http.response import HttpResponseBase
from django.test import Client

from incidents import visibility
from incidents.models import Event, Incident
from integrations.api import otlp
from integrations.api.tests.test_otlp import pushed
from integrations.slack.interaction import incident_lookup
from integrations.tests.outsiders import alike, test_slack
from integrations.tests.outsiders import scene as building
from integrations.tests.outsiders.scene import MEMBER, OUTSIDER, PROFILE, Scene
from integrations.tests.outsiders.waiting import done_to, meanwhile
from workflows.paging import paging
from workflows.views.pages import PageForm

Form = Mapping[str, Any]
Answer = tuple[int, str, Mapping[str, str]]
TEXT: Final = "I was quicker"
# What an outsider posts below the incident's page; ME is their own number, OTHER another incident.
POSTS: Final[tuple[tuple[str, Form], ...]] = (
    ("write", {"text": TEXT}),
    ("write", {"text": TEXT, "kind": "note"}),
    ("bring", {"people": "ME"}),
    ("lead", {"people": "ME"}),
    ("role", {"people": "ME", "role": "Scribe"}),
    ("resolve", {"text": TEXT}),
    ("mitigate", {"text": TEXT}),
    ("cancel", {"text": TEXT}),
    ("rename", {"title": TEXT}),
    ("summary", {"summary": TEXT}),
    ("services", {"services": "mine"}),
    ("edit", {"n": "2", "text": TEXT}),
    ("retract", {"n": "2"}),
    ("duplicate", {"of": "OTHER"}),
    ("retype", {"to": "major", "bring": "ME", "digest": "x"}),
    ("evidence/add", {"link": "https://example.com/graph", "title": TEXT}),
    ("evidence/add", {"file": PROFILE}),
    ("evidence/commands", {}),
    ("evidence/1/again", {}),
    ("findings/", {"claim": TEXT}),
    ("findings/1/", {"verdict": "refuted", "text": TEXT}),
    ("pages", {"target": "TARGET", "shown": "SHOWN"}),
    ("retry/1", {}),
)


@pytest.fixture
def scene(erasable: None, transactional_db: None) -> Iterator[Scene]:
    """The house with its doors open, in a database that others write to concurrently."""
    with building.scene() as made:
        yield made


@pytest.fixture
def public(scene: Scene) -> Incident:
    """A public incident with some of everything."""
    return scene.furnish(scene.declare("The printer leaks"))


def test_a_page_is_answered_as_if_there_were_none(scene: Scene, public: Incident) -> None:
    values, none = known(scene, public), alike.absent(public.codename)
    before = done_to(public)

    def post(path: str, form: Form) -> Callable[[], Answer]:
        client, sent = browser(scene, OUTSIDER), filled(form, values)
        return lambda: got(client.post(f"/incidents/{public.codename}/{path}", sent), public.codename)

    answers = meanwhile(scene, public, *(post(path, form) for path, form in POSTS))
    for (path, form), answer in zip(POSTS, answers, strict=True):
        absent = got(browser(scene, OUTSIDER).post(f"/incidents/{none}/{path}", filled(form, values)), none)
        assert answer == absent, f"{path} {form}"
        assert answer[0] == 404
    assert done_to(public) == before
    assert not visibility.may_see(scene.person(OUTSIDER), public)


def test_a_keeper_gets_through(scene: Scene, public: Incident) -> None:
    words = [f"We rotate the keys, step {n}" for n in range(6)]

    def write(text: str) -> Callable[[], int]:
        client = browser(scene, MEMBER)
        return lambda: client.post(f"/incidents/{public.codename}/write", {"text": text}).status_code

    assert set(meanwhile(scene, public, *map(write, words))) == {302}
    told = Event.objects.filter(incident=public, kind="updated", text__in=words)
    assert sorted(told.values_list("text", flat=True)) == words
    assert min(one.n for one in told) > Event.objects.get(incident=public, kind="retyped").n


def test_a_token_finds_nothing(scene: Scene, public: Incident) -> None:
    token, narrow = scene.token(OUTSIDER), scene.token(OUTSIDER, incident=public)
    none, before = alike.absent(public.codename), done_to(public)

    def send(address: str, body: bytes, kind: str, name: str, **headers: str) -> Answer:
        client = Client(raise_request_exception=False)
        return got(client.post(address, body, kind, headers=headers), name)

    def rest(name: str) -> Answer:
        kind = "application/octet-stream"
        return send(f"/api/v1/incidents/{name}/evidence", PROFILE, kind, name, Authorization=f"Bearer {token}")

    def push(name: str, **more: str) -> Answer:
        headers = {"Authorization": f"Bearer {token}", **more}
        return send("/v1development/profiles", pushed(), otlp.KIND, name, **headers)

    name = public.codename
    own = {"Authorization": f"Bearer {narrow}"}
    answers = meanwhile(
        scene, public, lambda: rest(name), lambda: push(name, **{otlp.HEADER: name}), lambda: push(name, **own)
    )
    absent = push(none, **{otlp.HEADER: none})
    assert answers == [rest(none), absent, absent]
    assert {status for status, *_ in answers} == {404}
    assert done_to(public) == before


def test_slack_says_that_there_is_none(scene: Scene, public: Incident) -> None:
    slack, room = scene.house.slack, scene.house.channel(public)
    before = done_to(public)
    message = {"type": "message", "user": slack.person(OUTSIDER).id, "ts": "1.1", "text": TEXT}
    used = {"callback_id": "firekind:capture-this", "action_ts": "5.5", "message": message}
    shortcut = test_slack.base(scene, OUTSIDER, "message_action") | used | {"channel": {"id": slack.channel(room).id}}
    modal = test_slack.base(scene, OUTSIDER, "view_submission") | {"view": test_slack.view("firekind:say")}
    button = test_slack.base(scene, OUTSIDER, "block_actions")
    button |= {"actions": [{"type": "button", "action_id": "firekind:retry", "action_ts": "7.7", "value": "THAT|1"}]}

    def command(text: str) -> Callable[[], str]:
        return lambda: test_slack.command(scene, OUTSIDER, text, name="", channel=room).body

    def interaction(payload: dict[str, Any]) -> Callable[[], str]:
        def act() -> str:
            heard = test_slack.send(scene, OUTSIDER, "interaction", payload["type"], payload, name=public.codename)
            return heard.body + heard.modal

        return act

    typed = [command(one) for one in (f"update {TEXT}", "resolved", "lead me", "finding It is me")]
    answers = meanwhile(scene, public, *typed, *map(interaction, (shortcut, modal, button)))
    assert [one for one in answers if incident_lookup.NOT_THERE not in one] == []
    assert done_to(public) == before


def test_the_terminal_knows_no_such_codename(scene: Scene, public: Incident) -> None:
    before = done_to(public)

    def act(name: str) -> str:
        with pytest.raises(CommandError) as refused:
            call_command("incident", "note", name, TEXT, by=f"{OUTSIDER}@example.com")
        return str(refused.value).replace(name, alike.NAME)

    assert meanwhile(scene, public, lambda: act(public.codename)) == [act("quiet-heron")]
    assert done_to(public) == before


def known(scene: Scene, public: Incident) -> Mapping[str, str]:
    """Return the values of form fields that are only known here."""
    form = PageForm(last_n=public.last_n, among=paging.choices(public))
    target = next(one for one, choice in form.among.items() if not choice.state)
    form.data = {"target": target}
    other = scene.declare("Mail is late").codename
    return {"ME": str(scene.person(OUTSIDER).pk), "OTHER": other, "TARGET": target, "SHOWN": form.token}


def filled(form: Form, values: Mapping[str, str]) -> dict[str, Any]:
    """Fill in a form; a value that is not text becomes a file."""
    return {
        name: SimpleUploadedFile("mine.folded", value) if isinstance(value, bytes) else values.get(value, value)
        for name, value in form.items()
    }


def browser(scene: Scene, who: str) -> Client:
    """Return a new browser that reports a 500 as a response."""
    client = Client(raise_request_exception=False)
    user = scene.person(who).user
    assert user is not None
    client.force_login(user)
    return client


def got(response: HttpResponseBase, name: str) -> Answer:
    """Return the response without the requested name."""
    headers = {key: alike.without(value, name) for key, value in response.headers.items()}
    return response.status_code, alike.without(alike.text(response), name), headers
