"""Hints: what a listener meets is no matter of whoever did something."""

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from incidents import hints


class Down(Exception):
    """What a listener stands on is away."""


def down(pk: int) -> None:
    raise Down


class Receiver:
    """Takes hints, and is down."""

    def take(self, pk: int) -> None:
        """Take a hint in vain."""
        raise Down


@pytest.mark.usefixtures("django_db_setup")
@pytest.mark.parametrize("first", [down, Receiver().take])
def test_a_listener_that_fails_fails_nobody_else(first: hints.Listener, django_db_blocker: DjangoDbBlocker) -> None:
    heard: list[int] = []
    with django_db_blocker.unblock():  # without a transaction of the test's own, there is no commit to wait for
        hints.after_commit([first, heard.append], 7)
        connection.close()
    assert heard == [7]
