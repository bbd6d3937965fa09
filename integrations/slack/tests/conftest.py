from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from pytest_django import DjangoDbBlocker

from incidents.models import Incident
from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.door import Door, DoorWire
from integrations.tests import house as building
from integrations.tests import once
from integrations.tests.house import House
from workflows import ports

LayOut = Callable[[Door], Incident]


@dataclass(slots=True)
class Built:
    """What a module's tests start from: a house with its door open, and what `lay_out` created."""

    door: Door
    incident: Incident | None = None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests that ask for an incident a house with one already declared, and all others an empty house."""
    if "built" in metafunc.fixturenames:
        begins = pytest.param("incident" in metafunc.fixturenames, id=pytest.HIDDEN_PARAM)
        metafunc.parametrize("built", [begins], indirect=True, scope="module")


@pytest.fixture(scope="module")
def lay_out() -> LayOut:
    """Declare the module's incident: by Ann, with a channel that Ann, Ben and Lea are in."""
    return Door.declared


@pytest.fixture(scope="module")
def built(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker, lay_out: LayOut
) -> Iterator[Built]:
    """A house with its door open, and a workspace full of people. Built once per module."""

    @contextmanager
    def build() -> Iterator[Built]:
        with building.house() as house:
            people = house.slack.workspace.people.values()
            house.slack.add_channel("lobby", members=[one.id for one in people if not one.is_bot])
            door = Door(house)
            with behind(house):
                yield Built(door, lay_out(door) if request.param else None)

    with once.laid(django_db_blocker, build) as made:
        yield made


@contextmanager
def behind(house: House) -> Iterator[None]:
    """Put the house's workspace behind the doors and the chat port."""
    wire = DoorWire(house.slack, token=building.TOKEN)
    with ports.using(chat=house.chat), current.using(SlackChat(wire, identity=Identity(wire))):
        yield


@pytest.fixture
def here(built: Built, db: None) -> Iterator[Built]:
    """What was built for the module, untouched by other tests."""
    made = once.copied(built)
    with behind(made.door.house):
        yield made


@pytest.fixture
def door(here: Built) -> Door:
    """The door."""
    return here.door


@pytest.fixture
def incident(here: Built) -> Incident:
    """The incident that was declared there."""
    assert here.incident is not None
    return here.incident
