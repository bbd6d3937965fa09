"""Over TLS every cookie belongs to this host only: browsers accept its name from nowhere else."""

import json
import os
import re
import secrets
import subprocess
import sys
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config import env

NAMES = ("COOKIE_PREFIX", "SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")
PASSWORD = "of-no-use-elsewhere"
SAY = f"import json; from config import settings; print(json.dumps({{n: getattr(settings, n) for n in {NAMES!r}}}))"


def settings_of(base_url: str) -> dict[str, Any]:
    given = {"DATABASE_URL": "postgresql://db", "REDIS_URL": "redis://b", "SECRET_KEY": secrets.token_urlsafe(64)}
    environ = {**os.environ, **dict.fromkeys(env.NAMES, ""), **given, "FIREKIND_BASE_URL": base_url}
    done = subprocess.run([sys.executable, "-c", SAY], env=environ, cwd=env.ROOT, capture_output=True, check=True)
    return dict(json.loads(done.stdout))


def test_over_tls_every_cookie_is_of_this_host_alone(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_of("https://firekind.example")
    for name, value in found.items():
        setattr(settings, name, value)
    # Read once, when their modules are imported.
    monkeypatch.setattr("integrations.identity.browsers.COOKIE", f"{found['COOKIE_PREFIX']}browser")
    monkeypatch.setattr("config.http.message_cookie.MessageCookie.cookie_name", f"{found['COOKIE_PREFIX']}messages")
    User.objects.create_user("ada", password=PASSWORD)
    client = Client(enforce_csrf_checks=True)

    page = client.get("/sign-in/", secure=True).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert token is not None
    form = {"username": "ada", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
    answer = client.post("/sign-in/", form, secure=True, headers={"Referer": "https://testserver/sign-in/"})

    assert answer.status_code == 302
    assert {"__Host-sessionid", "__Host-csrftoken", "__Host-browser"} <= set(client.cookies)
    for name, cookie in client.cookies.items():
        assert name.startswith("__Host-"), name
        assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", ""), name


def test_without_tls_they_have_their_plain_names() -> None:
    """Browsers accept the prefix only from pages over TLS."""
    found = settings_of("http://127.0.0.1:8000")
    assert found["COOKIE_PREFIX"] == ""
    assert found["SESSION_COOKIE_NAME"] == "sessionid"


def test_the_page_scripts_name_theirs_the_same_way() -> None:
    for path in (env.ROOT / "static" / "firekind").glob("*.js"):
        script = path.read_text()
        if "document.cookie =" in script:
            assert '"__Host-"' in script, path
            assert "; secure" in script, path
