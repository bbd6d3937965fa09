"""Hints: a failing listener does not affect the person who did something."""

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from incidents import hints


class Down(Exception):
    """Something that a listener depends on is away."""


def down(pk: int) -> None:
    raise Down


class Receiver:
    """Takes hints, and fails."""

    def take(self, pk: int) -> None:
        """Fail to take a hint."""
        raise Down


@pytest.mark.usefixtures("django_db_setup")
@pytest.mark.parametrize("first", [down, Receiver().take])
def test_a_listener_that_fails_fails_nobody_else(first: hints.Listener, django_db_blocker: DjangoDbBlocker) -> None:
    heard: list[int] = []
    with django_db_blocker.unblock():  # with a transaction around the test, there would be no commit to wait for
        hints.after_commit([first, heard.append], 7)
        connection.close()
    assert heard == [7]
