"""Whatever a member types into any field of any form is accepted, or refused with a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final

import pytest
from django.db import transaction
from django.http import QueryDict
from django.test import Client

from incidents.forms import VERBS
from incidents.models import Incident
from integrations.tests.outsiders import alike, table
from integrations.tests.outsiders.scene import MANAGER, MEMBER, Scene
from integrations.tests.outsiders.table import OF_INCIDENTS, OF_NONE
from stack.short_runs import WalkPart

pytestmark = pytest.mark.slow

ODD: Final = ("100 %s %(who)d {{ 7 }} {0} ²", "ключ-выдра")
TAG: Final = re.compile(r"<(form|input|textarea|select|option|button)\b([^>]*)>")
GIVEN: Final = re.compile(r'\b(action|hx-post|method|name|value|type)="([^"]*)"')
OUT: Final = re.compile(r"/sign-out/|/sign-in/")
FIELDS: Final = frozenset({"textarea", "select", "input", "button"})
Form = tuple[str, str, QueryDict]  # its method, its target and its fields


def addresses(codename: str) -> Iterator[str]:
    """Yield every page that may have a form, for one incident if the path contains a codename."""
    for route, row in (*OF_INCIDENTS.items(), *OF_NONE.items()):
        if route in table.routes() and "stream" not in route and not route.startswith("api/"):
            yield from (address + query for address in row.addresses(route, codename) for query in row.asks)
    yield from (f"/incidents/{codename}/{verb}" for verb in VERBS)


def forms(page: str, address: str) -> Iterator[Form]:
    """Yield a page's forms as a browser would send them unchanged."""
    for part in page.split("</form>"):
        begins = part.rfind("<form")
        if begins < 0:
            continue
        method, to, data, chosen = "get", address, QueryDict(mutable=True), ""
        for tag, rest in TAG.findall(part[begins:]):
            given: Mapping[str, str] = {name: unescape(value) for name, value in GIVEN.findall(rest)}
            if tag == "form":
                method, to = given.get("method", method).lower(), given.get("action") or given.get("hx-post") or to
            elif tag == "option" and (" selected" in rest or not data.get(chosen)):
                data[chosen] = given.get("value", "")
            elif tag in FIELDS and given.get("name") and given.get("type") != "file":
                data.appendlist(chosen := given["name"], given.get("value", ""))
        yield method, to, data


def send(client: Client, form: Form, changed: QueryDict) -> int:
    """Send a form and undo its effect; return the status."""
    method, to, _ = form
    with transaction.atomic():
        if method == "post":
            response = client.post(to, changed.urlencode(), content_type="application/x-www-form-urlencoded")
        else:
            response = client.get(f"{to.partition('?')[0]}?{changed.urlencode()}")
        alike.text(response)
        transaction.set_rollback(True)
    return response.status_code


def test_every_field_of_every_form_takes_or_refuses_whatever_is_typed(
    scene: Scene, hidden: Incident, part: WalkPart
) -> None:
    known: set[tuple[str, tuple[str, ...]]] = set()
    for who in (MEMBER, MANAGER):
        client = scene.browser(who)
        for address in addresses(hidden.codename):
            with transaction.atomic():
                page = alike.text(client.get(address))
                transaction.set_rollback(True)
            for form in forms(page, address):
                _, to, data = form
                key = (re.sub(r"\d+", "n", to.partition("?")[0]), tuple(sorted(data)))
                if key in known or OUT.search(to):
                    continue
                known.add(key)
                for name in part.of(sorted({*data} - {"csrfmiddlewaretoken"})):
                    for odd in ODD:
                        changed = data.copy()
                        changed[name] = odd
                        status = send(client, form, changed)
                        assert status < 500, f"{to}: {name}={odd}: {status}"
    assert len(known) > 60
