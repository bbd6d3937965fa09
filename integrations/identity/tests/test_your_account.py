"""Your account: only its owner changes the factors, and sessions can be listed and ended."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import unquote

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from incidents.models import Person
from incidents.tests.held_rows import held
from integrations.identity import sessions, visiting
from integrations.identity.models import Session
from integrations.identity.tests.test_accounts import RIGHT, code_of

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def signed_in(**headers: str) -> Client:
    """Open a browser in which Ada is signed in."""
    client = Client(headers=headers)
    assert client.post("/sign-in/", RIGHT).status_code == 302
    return client


def confirmed(client: Client, path: str) -> None:
    """Confirm again that it is Ada."""
    asked = client.get(path)
    assert unquote(asked["Location"]) == f"/sign-in/again?next={path}"
    assert client.post(asked["Location"], {"password": RIGHT["password"], "next": path})["Location"] == path


def test_setting_up_a_factor_asks_for_the_password_first(ada: Person) -> None:
    client = signed_in()
    confirmed(client, "/account/app")
    page = client.get("/account/app")
    secret = page.context["form"].secret
    code = totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))

    assert client.post("/account/app", {"code": code})["Location"] == "/account/codes"
    shown = client.get("/account/codes").content.decode()
    assert "signs you in once" in shown
    assert "They were shown once" in client.get("/account/codes").content.decode()
    assert set(Authenticator.objects.values_list("type", flat=True)) == {"totp", "recovery_codes"}
    assert Entry.objects.filter(kind="account", by=ada.pk, data={"added": "authenticator app"}).exists()


def test_the_code_that_set_up_an_app_is_used_up(ada: Person) -> None:
    client = signed_in()
    confirmed(client, "/account/app")
    secret = client.get("/account/app").context["form"].secret
    code = totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))
    client.post("/account/app", {"code": code})

    for again in (code, f" {code[:3]} {code[3:]}", f"{code[:3]}-{code[3:]}", f"{code}."):
        cache.clear()  # as in another process, which has none of this one's cache
        other = Client()
        other.post("/sign-in/", RIGHT)
        assert "already used" in other.post("/sign-in/code", {"code": again}).content.decode()
        assert other.get("/")["Location"].startswith("/sign-in/")


def test_a_wrong_password_changes_nothing_and_is_not_guessed(ada: Person) -> None:
    client = signed_in()
    for _ in range(5):
        assert (
            "password is not correct"
            in client.post("/sign-in/again?next=/account/app", {"password": "x"}).content.decode()
        )
    right = {"password": RIGHT["password"]}
    assert "Try again in" in client.post("/sign-in/again?next=/account/app", right).content.decode()


def test_a_recovery_code_opens_the_account_once(ada: Person) -> None:
    assert ada.user is not None
    app = totp.TOTP.activate(ada.user, totp.generate_totp_secret()).instance
    client = Client()
    client.post("/sign-in/", RIGHT)
    client.post("/sign-in/code", {"code": code_of(app)})
    confirmed(client, "/account/codes/new")
    client.post("/account/codes/new")
    (code, *_) = client.get("/account/codes").context["unused_codes"]

    answers = []
    for _ in range(2):
        other = Client()
        other.post("/sign-in/", RIGHT)
        answers.append(other.post("/sign-in/code", {"code": code}).status_code)
    assert answers == [302, 200]


def test_whoever_signs_in_elsewhere_keeps_factors_there(ada: Person) -> None:
    assert ada.user is not None
    ada.user.set_unusable_password()
    ada.user.save()
    client = Client()
    client.force_login(ada.user)

    assert client.get("/account/").status_code == 200
    for path in ("app", "key", "codes/new"):
        assert client.get(f"/account/{path}").status_code == 404


def test_sessions_are_listed_by_browser_and_ended_one_by_one(ada: Person) -> None:
    here, there = signed_in(), signed_in(**{"User-Agent": FIREFOX})
    page = here.get("/account/")
    assert "Firefox on Linux" in page.content.decode()
    assert there.cookies["sessionid"].value not in page.content.decode()

    (other,) = [visit for visit in page.context["visits"] if not visit.here]
    assert here.post(f"/account/sessions/{other.ref}/end").status_code == 302
    assert there.get("/").status_code == 302
    assert here.get("/").status_code == 200


def test_nobody_ends_a_session_of_somebody_else(ada: Person) -> None:
    ben = User.objects.create_user("ben", password="of-no-use-elsewhere")
    mine = signed_in()
    (visit,) = mine.get("/account/").context["visits"]
    other = Client()
    other.force_login(ben)

    assert other.post(f"/account/sessions/{visit.ref}/end").status_code == 404
    assert mine.get("/").status_code == 200


def test_signing_out_everywhere_ends_all(ada: Person) -> None:
    here, there = signed_in(), signed_in()
    assert here.post("/account/sessions/end")["Location"] == "/sign-in/"
    assert here.get("/").status_code == 302
    assert there.get("/").status_code == 302


def test_a_session_ends_when_it_is_not_used_and_after_two_weeks_in_any_case(ada: Person) -> None:
    client = signed_in()
    row = Session.objects.get(user=ada.user)
    assert timedelta(hours=11) < row.expire_date - timezone.now() <= timedelta(hours=12)

    session = client.session
    session[sessions.BEGAN] -= timedelta(days=13, hours=23).total_seconds()
    session.save()
    row.refresh_from_db()
    assert row.expire_date - timezone.now() < timedelta(hours=1, seconds=5)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert client.get("/").status_code == 302


def test_use_is_what_a_person_does_not_what_a_page_asks_by_itself(ada: Person) -> None:
    client = signed_in()
    session = client.session
    session[sessions.SEEN] -= 2 * visiting.EVERY_S
    session.save()
    before = client.session[sessions.SEEN]

    client.get("/", headers={"HX-Request": "true"})
    assert client.session[sessions.SEEN] == before
    client.get("/")
    assert client.session[sessions.SEEN] > before


def test_a_leavers_session_shows_nothing_from_the_next_request_on(ada: Person) -> None:
    client = signed_in()
    Person.objects.filter(pk=ada.pk).update(deactivated=True)

    for path in ("/", "/account/", "/people"):
        assert client.get(path).status_code == 403


def test_what_happens_is_noted(ada: Person) -> None:
    Client().post("/sign-in/", {"username": "a password in the wrong field", "password": "x"})
    signed_in().post("/sign-out/")

    noted = list(Entry.objects.order_by("pk").values_list("kind", "by", "data"))
    assert noted == [
        ("sign-in-failed", None, {"why": "unknown name"}),
        ("sign-in", ada.pk, {"way": "account"}),
        ("sign-out", ada.pk, {}),
    ]


@pytest.mark.django_db
def test_a_session_is_read_as_django_reads_it_and_not_once_it_ended() -> None:
    store = sessions.SessionStore()
    store["kept"] = "word"
    store.create()
    key = str(store.session_key)
    row = sessions.SESSION.first(sessions.UNENDED, [key, timezone.now()])
    assert held(row, but=()) == held(Session.objects.get(session_key=key), but=())
    assert sessions.SessionStore(key)["kept"] == "word"
    Session.objects.filter(session_key=key).update(expire_date=timezone.now())
    ended = sessions.SessionStore(key)
    assert ended.load() == {}
    assert ended.session_key is None
