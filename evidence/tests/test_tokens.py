"""Tokens: created once, shown once, revoked by their person; and the commands that contain them."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from evidence.intake import commands, tokens
from evidence.models import Token
from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.tests.conftest import Open
from incidents.tests.held_rows import held

pytestmark = pytest.mark.django_db
SECRET = re.compile(r"fk_[A-Za-z0-9_-]{43}")


def test_a_token_is_found_by_its_secret_alone(ada: Person) -> None:
    issued = tokens.issue(ada, at=timezone.now())
    found = tokens.find(issued.secret, at=timezone.now())
    assert found is not None
    assert found.person == ada
    assert tokens.find(issued.token.hash, at=timezone.now()) is None
    assert tokens.find(issued.secret[:-1] + ("A" if issued.secret[-1] != "A" else "B"), at=timezone.now()) is None
    assert issued.secret not in repr(issued.token) + str(vars(issued.token))


def test_it_ends_by_itself_and_with_its_account(ada: Person) -> None:
    issued = tokens.issue(ada, at=timezone.now())
    assert tokens.find(issued.secret, at=timezone.now() + tokens.PERSONAL) is None
    assert ada.user is not None
    ada.user.is_active = False
    ada.user.save()
    assert tokens.find(issued.secret, at=timezone.now()) is None


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("signs_in", [False, True])
def test_a_token_is_read_as_django_reads_it(
    incident: Incident, ada: Person, narrow: bool, signs_in: bool, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    person = ada if signs_in else Person.objects.create(chat_id="UAPI", name="Deploys")
    issued = tokens.issue(person, at=timezone.now(), incident=incident if narrow else None, name="deploys")
    assert tokens.find(issued.secret, at=timezone.now()) is not None  # its first use is recorded
    with django_assert_num_queries(1):
        found = tokens.find(issued.secret, at=timezone.now())
        assert found is not None
        joined = [held(one) for one in (found, found.person, found.person.user, found.incident)]
    as_django = Token.objects.select_related("person__user", "incident").get(pk=issued.token.pk)
    assert joined == [held(one) for one in (as_django, as_django.person, as_django.person.user, as_django.incident)]
    assert tokens.stands(found)


def test_the_lines_are_asked_for_with_a_press_and_shown_with_a_token(
    incident: Incident, ada: Person, browse: Open
) -> None:
    client, address = browse(ada), f"/incidents/{incident.codename}/evidence/commands"
    assert "fk_" not in client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert not Token.objects.exists(), "looking makes none"
    answer = client.post(address, headers={"HX-Request": "true"})
    (secret,) = set(SECRET.findall(answer.content.decode()))
    token = tokens.find(secret, at=timezone.now())
    assert token is not None
    assert (token.incident, token.person) == (incident, ada)
    assert token.expires_at is not None
    assert token.expires_at < timezone.now() + timedelta(hours=13)
    assert "no-store" in answer["Cache-Control"]
    for tool in ("perf", "bpftrace", "py-spy", "async-profiler", "tracing-flame"):
        assert tool in answer.content.decode()


def test_an_outsider_gets_no_lines(secret: Incident, eve: Person, browse: Open) -> None:
    assert browse(eve).post(f"/incidents/{secret.codename}/evidence/commands").status_code == 404
    assert not Token.objects.exists()


def test_personal_tokens_are_listed_made_and_revoked(ada: Person, eve: Person, browse: Open) -> None:
    client = browse(ada)
    assert client.post("/tokens/", {"name": ""}).status_code == 422
    assert client.post("/tokens/", {"name": "soak runs"}).status_code == 422, "it must be for something"
    assert client.post("/tokens/", {"name": "soak runs", "scopes": "everything"}).status_code == 422
    assert not Token.objects.exists()
    made = client.post(
        "/tokens/", {"name": "soak runs", "scopes": ["incidents:read", "evidence:write"]}
    ).content.decode()
    assert "can add evidence, and read it; read incidents and their timelines" in " ".join(made.split())
    (secret,) = set(SECRET.findall(made))
    listed = client.get("/tokens/").content.decode()
    assert "soak runs" in listed
    assert secret not in listed
    token = Token.objects.get()
    browse(eve).post(f"/tokens/{token.pk}/revoke")
    assert tokens.find(secret, at=timezone.now()) is not None, "only one's own"
    client.post(f"/tokens/{token.pk}/revoke")
    assert tokens.find(secret, at=timezone.now()) is None
    assert "soak runs" not in client.get("/tokens/").content.decode()


def test_a_token_for_an_incident_that_closed_to_its_owner_does_not_name_it(
    incident: Incident, eve: Person, browse: Open
) -> None:
    tokens.issue(eve, at=timezone.now(), incident=incident)
    assert incident.codename in browse(eve).get("/tokens/").content.decode()
    Incident.objects.filter(pk=incident.pk).update(private=True)
    shown = browse(eve).get("/tokens/").content.decode()
    assert incident.codename not in shown
    assert "Adds to one incident" in " ".join(shown.split()), "it can still be revoked"


def test_nobody_piles_up_tokens_without_end(ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "AT_MOST", 1)
    client = browse(ada)
    client.post("/tokens/", {"name": "one", "scopes": "evidence:write"})
    assert client.post("/tokens/", {"name": "two", "scopes": "evidence:write"}).status_code == 422
    assert Token.objects.count() == 1


def test_each_line_is_one_line_that_a_shell_reads() -> None:
    for line in commands.lines("https://firekind.example/api/v1/incidents/amber-otter/evidence", secret="fk_S"):
        assert "\n" not in line.command
        words = shlex.split(line.command)
        assert "Authorization: Bearer fk_S" in words
        assert words[-1].startswith("https://firekind.example/api/v1/incidents/amber-otter/evidence?title=")
        assert words[words.index("--data-binary") + 1].startswith("@")


def test_the_terminal_makes_tokens_for_those_who_hold_it(incident: Incident, secret: Incident, eve: Person) -> None:
    out = io.StringIO()
    call_command("evidence_token", "eve", "--incident", incident.codename, stdout=out)
    token = tokens.find(out.getvalue().strip(), at=timezone.now())
    assert token is not None
    assert (token.person, token.incident) == (eve, incident)
    User.objects.create_user("operator")
    call_command("evidence_token", "operator", stdout=out)
    assert Person.objects.get(user__username="operator").tokens.count() == 1
    with pytest.raises(CommandError, match="can see"):
        call_command("evidence_token", "eve", "--incident", secret.codename)
    with pytest.raises(CommandError, match="No one is called"):
        call_command("evidence_token", "zoe")


def test_a_token_is_for_what_was_asked_and_for_evidence_when_nothing_was(incident: Incident, ada: Person) -> None:
    assert tokens.issue(ada, at=timezone.now()).token.scopes == ["evidence:write"]
    assert tokens.issue(ada, at=timezone.now(), scopes=["incidents:read"]).token.scopes == ["incidents:read"]
    for scopes in ([], ["incidents:write"], ["incidents:read", "all"]):
        with pytest.raises(lifecycle.BadInput):
            tokens.issue(ada, at=timezone.now(), scopes=scopes)
    with pytest.raises(lifecycle.BadInput, match="only add evidence"):
        tokens.issue(ada, at=timezone.now(), incident=incident, scopes=["incidents:read"])
    out = io.StringIO()
    call_command("evidence_token", "ada", "--scope", "incidents:read", "--scope", "evidence:write", stdout=out)
    found = tokens.find(out.getvalue().strip(), at=timezone.now())
    assert found is not None
    assert found.scopes == ["evidence:write", "incidents:read"]


def test_the_off_cpu_line_folds_what_bpftrace_prints() -> None:
    printed = (
        "\n@ns[\n    finish_task_switch.isra.0+155\n    schedule+85\n, \n    poll+79\n    main+20\n, my proc]: 12345\n"
        "@ns[\n    schedule+1\n, \n, kworker/0:1]: 77\n"
    )
    awk = ["awk", commands.FOLD]
    folded = subprocess.run(awk, input=printed, capture_output=True, text=True, check=True).stdout
    assert folded.splitlines() == [
        "my proc;main;poll;schedule;finish_task_switch.isra.0 12345",
        "kworker/0:1;schedule 77",
    ]
