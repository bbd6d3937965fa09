"""Every path with every method and as everyone: a private incident looks like one that does not exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from incidents.models import Incident
from integrations.tests.outsiders import alike, table
from integrations.tests.outsiders.alike import ask
from integrations.tests.outsiders.scene import ANONYMOUS, FORMER, GONE, MEMBER, OUTSIDER, OUTSIDERS, WORD, Scene
from integrations.tests.outsiders.table import OF_INCIDENTS, OF_NONE, Row
from stack.short_runs import WalkPart

RARE = ("HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")
EVERYONE_ELSE = tuple(who for who in OUTSIDERS if who != OUTSIDER)
Question = tuple[str, str, Mapping[str, str] | None]


def test_every_address_has_its_row() -> None:
    missing = sorted({*table.routes()} - {*OF_INCIDENTS, *OF_NONE})
    assert not missing, f"{missing} would not be walked: {table.HOW}."


def test_an_address_with_a_codename_is_one_of_an_incident() -> None:
    wrong = [one for one in OF_NONE if "codename" in one]
    assert not wrong, f"{wrong} name an incident: {table.HOW}."
    assert all("<slug:codename>" in one for one in OF_INCIDENTS)


def there(rows: Mapping[str, Row]) -> list[tuple[str, Row]]:
    """Return the rows whose path exists."""
    found = {*table.routes()}
    return [(route, row) for route, row in rows.items() if route in found]


def questions(row: Row, *, who: str, turn: int) -> Iterator[Question]:
    """Yield a person's requests to a path: all for the outsider; for others a GET and one further method in turn.

    There are more people than methods, so each path gets every method.
    """
    if who == OUTSIDER:
        yield from (("GET", query, None) for query in row.asks)
        yield from (("POST", "", post) for post in row.posts)
    else:
        yield ("GET", row.asks[-1], None)
        others = (*((method, "", None) for method in RARE), ("POST", "", row.posts[-1]))
        its_turn = (turn + EVERYONE_ELSE.index(who)) % len(EVERYONE_ELSE)
        yield from others[its_turn : its_turn + 1]


def allowed(who: str, row: Row) -> frozenset[int]:
    """Return the statuses a person may get: an unknown person is sent to sign in, a person who has left is told so."""
    if who == ANONYMOUS:
        return frozenset({302, 401, 405})
    return frozenset({401, 403, 405}) if who == GONE else row.answers


def test_nobody_outside_tells_a_private_incident_from_none(scene: Scene, hidden: Incident, part: WalkPart) -> None:
    none = alike.absent(hidden.codename)
    for who in OUTSIDERS:
        client = scene.browser(who)
        for turn, (route, row) in part.of(enumerate(there(OF_INCIDENTS))):
            for one, other in zip(row.addresses(route, hidden.codename), row.addresses(route, none), strict=True):
                for method, query, post in questions(row, who=who, turn=turn):
                    known = ask(client, method, one + query, name=hidden.codename, post=post)
                    unknown = ask(client, method, other + query, name=none, post=post)
                    where = f"{method} {one}{query} {post or ''} as {OUTSIDERS[who]}"
                    assert known == unknown, where
                    assert known.status in allowed(who, row), f"{where}: {known.status}"
                    assert WORD not in known.body, where


def test_nobody_outside_tells_them_apart_by_a_token(scene: Scene, hidden: Incident, part: WalkPart) -> None:
    """At each path by its route; ``test_api`` requests what the API describes with everyone's tokens."""
    none, client = alike.absent(hidden.codename), scene.browser(ANONYMOUS)
    for who in (ANONYMOUS, OUTSIDER, FORMER):
        for token in (scene.token(who), scene.token(who, incident=hidden)):
            client.get(
                f"/api/v1/incidents/{none}", headers={"Authorization": f"Bearer {token}"}
            )  # its first use is stored
            for route, row in part.of(one for one in there(OF_INCIDENTS) if one[0].startswith("api/")):
                for one, other in zip(row.addresses(route, hidden.codename), row.addresses(route, none), strict=True):
                    for method in ("GET", "POST"):
                        known = ask(client, method, one, name=hidden.codename, token=token)
                        unknown = ask(client, method, other, name=none, token=token)
                        assert known == unknown, f"{method} {one} as {OUTSIDERS[who]}"
                        assert known.status in table.NOT_THERE | {403}  # not what the token is for


def test_members_find_something_at_each_of_them_and_nothing_is_kept(
    scene: Scene, hidden: Incident, part: WalkPart
) -> None:
    """The tested paths exist; and no browser stores them, runs scripts in them, or reveals them to other sites."""
    for route, row in part.of(there(OF_INCIDENTS)):
        if route in table.NOT_BY_PAGE:
            continue
        address = next(iter(row.addresses(route, hidden.codename)))
        response = scene.browser(MEMBER).get(address + row.asks[-1])
        alike.text(response)
        assert response.status_code in {200, 302, 400, 405}, f"{address}: {response.status_code}"
        held(response.headers, address, relaxed=route in table.POLICY_OF_THEIR_OWN)


def test_head_is_answered_as_get_is_without_what_it_shows(scene: Scene, hidden: Incident, part: WalkPart) -> None:
    """As monitors, link previews and ``curl -I`` ask; HEAD opens no stream."""
    token = scene.token(MEMBER)
    for route, row in part.of((*there(OF_INCIDENTS), *there(OF_NONE))):
        for address in row.addresses(route, hidden.codename):
            given = {"Authorization": f"Bearer {token}"} if route.startswith("api/") else {}
            shown, asked = (scene.browser(MEMBER).generic(one, address, headers=given) for one in ("GET", "HEAD"))
            if not getattr(shown, "is_async", False):
                alike.text(shown)  # closes the file that it is read from
            assert asked.status_code == shown.status_code, address
            assert not alike.text(asked), address
            assert asked.headers.get("Content-Type") == shown.headers.get("Content-Type"), address


@pytest.mark.parametrize("who", [ANONYMOUS, OUTSIDER])
def test_other_pages_are_as_guarded(who: str, scene: Scene, part: WalkPart) -> None:
    for route, row in part.of(there(OF_NONE)):
        for address in row.addresses(route):
            response = scene.browser(who).get(address)
            held(response.headers, address, relaxed=False)
            if who == ANONYMOUS and not row.is_public:
                assert response.status_code in {302, 401, 405}, address
                assert response.headers.get("Location", "/sign-in/").startswith("/sign-in/"), address


def held(headers: Mapping[str, str], address: str, *, relaxed: bool) -> None:
    """Check a response's headers: not cached, no inline script or style, no referrer."""
    policy = headers.get("Content-Security-Policy", "")
    assert "no-store" in headers.get("Cache-Control", ""), address
    assert headers.get("Referrer-Policy") in {"same-origin", "no-referrer"}, address
    assert headers.get("X-Content-Type-Options") == "nosniff", address
    assert "default-src 'none'" in policy, address
    assert "unsafe-eval" not in policy.replace("wasm-unsafe-eval" if relaxed else "-", ""), address
    assert relaxed or "unsafe-inline" not in policy, address
    assert "frame-ancestors" in policy or "sandbox" in policy, address
