"""Every operation in the API's description with every token: a private incident looks like a missing one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

from incidents.models import Incident
from integrations.tests.outsiders import alike
from integrations.tests.outsiders.scene import ANONYMOUS, MEMBER, OUTSIDERS, PROFILE, WORD, Scene
from stack.short_runs import WalkPart

DESCRIPTION: Final = "/api/v1/openapi.json"
METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
REFUSED: Final = frozenset({401, 403, 404})
IN_PATH: Final = {"n": "1"}


@dataclass(frozen=True, slots=True)
class Operation:
    """A possible request: its method, its path, its queries, and whether a body is sent."""

    method: str
    address: str
    queries: Sequence[str]
    sends: bool

    @property
    def is_of_an_incident(self) -> bool:
        """Whether its path contains a codename."""
        return "{codename}" in self.address


@pytest.fixture
def operations(scene: Scene) -> list[Operation]:
    """Return every operation, read from the description as anyone gets it."""
    document = scene.browser(ANONYMOUS).get(DESCRIPTION).json()
    return list(_operations(document))


def _operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    base = "/" + document["servers"][0]["url"].split("://")[1].partition("/")[2]
    for path, item in document["paths"].items():
        for method in METHODS & {*item}:
            one = item[method]
            given = [*item.get("parameters", ()), *one.get("parameters", ())]
            queries = [f"?{each['name']}={value}" for each in given if each["in"] == "query" for value in _values(each)]
            address = base + path
            for name, value in IN_PATH.items():
                address = address.replace(f"{{{name}}}", value)
            yield Operation(method.upper(), address, ["", *queries], "requestBody" in one)


def _values(parameter: Mapping[str, Any]) -> Sequence[str]:
    """Return values to send: each allowed one, otherwise a number, or words that find the incident."""
    schema = parameter["schema"]
    if "enum" in schema:
        return list(schema["enum"])
    kinds = {one.get("type") for one in (schema, *schema.get("anyOf", ()))}
    return ["1"] if kinds & {"integer", "number"} else [WORD, "security"]


def held(scene: Scene, who: str, hidden: Incident, elsewhere: Incident) -> Iterator[str]:
    """Yield the tokens a person may hold: their own, one for another incident, and an earlier one for this incident."""
    for incident in (None, elsewhere, hidden):
        yield scene.token(who, incident=incident)


def test_nobody_outside_tells_a_private_incident_from_none(
    scene: Scene, hidden: Incident, operations: list[Operation], part: WalkPart
) -> None:
    of_incidents = [one for one in operations if one.is_of_an_incident]
    assert len(of_incidents) > 1
    elsewhere = scene.declare("Mail is late")
    for who in OUTSIDERS:
        for token in held(scene, who, hidden, elsewhere):
            first_used(scene, token)
            for one in part.of(of_incidents):
                for query in one.queries:
                    alike_for(scene, hidden, one, query, who=who, token=token)


def first_used(scene: Scene, token: str) -> None:
    """Use a token, so that the record of its first use does not make responses differ."""
    scene.browser(ANONYMOUS).get(
        DESCRIPTION.replace("openapi.json", "incidents"), headers={"Authorization": f"Bearer {token}"}
    )


def alike_for(scene: Scene, hidden: Incident, one: Operation, query: str, *, who: str, token: str) -> None:
    """Request an incident that is hidden and one that does not exist, and compare the responses."""
    client, none = scene.browser(ANONYMOUS), alike.absent(hidden.codename)
    known, unknown = (
        alike.ask(
            client,
            one.method,
            one.address.format(codename=name) + query,
            name=name,
            sent=PROFILE if one.sends else None,
            token=token,
        )
        for name in (hidden.codename, none)
    )
    where = f"{one} {query} as {OUTSIDERS[who]}"
    assert known == unknown, where
    assert known.status in REFUSED, f"{where}: {known.status}"
    assert WORD not in known.body, where


def test_no_list_has_it(scene: Scene, hidden: Incident, operations: list[Operation], part: WalkPart) -> None:
    lists = [one for one in operations if not one.is_of_an_incident]
    assert lists
    for who in OUTSIDERS:
        client, token = scene.browser(ANONYMOUS), scene.token(who)
        for one in lists:
            for query in part.of(one.queries):
                got = alike.ask(client, one.method, one.address + query, name="-", token=token)
                assert hidden.codename not in got.body, f"{one} {query} as {OUTSIDERS[who]}"
                assert query.endswith(WORD) or WORD not in got.body, f"{one} {query} as {OUTSIDERS[who]}"


def test_a_member_finds_something_at_each(scene: Scene, hidden: Incident, operations: list[Operation]) -> None:
    """The tested operations return something to a member."""
    client, token = scene.browser(ANONYMOUS), scene.token(MEMBER)
    for one in operations:
        if one.method == "GET":
            got = alike.ask(client, "GET", one.address.format(codename=hidden.codename), name="-", token=token)
            assert got.status == 200, one
            assert hidden.codename in got.body or WORD in got.body, one
