"""During an upgrade, older processes create things, and may be killed before they record them.

They do not store an effect's mark, and compute it instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from incidents import lifecycle
from integrations.tests.house import House
from workflows.effects.work import Work
from workflows.models import Effect


@contextmanager
def older_process() -> Iterator[None]:
    """Give the marks that a process of an older version gives."""
    with patch.object(Work, "mark", Work._older_mark):
        yield


def test_what_an_older_process_posted_is_found(house: House) -> None:
    house.slack.faults.add("drop", method="chat.postMessage")
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=house.now(), type=house.type("major"))
    with older_process():
        house.settle(incident, rounds=1)
    house.slack.faults.clear()
    assert Effect.objects.filter(incident=incident, kind="post", unsure=True).exists()
    house.settle(incident)
    assert len([text for text in house.slack.texts("incidents") if "Keys" in text]) == 1
    said = house.slack.texts(house.channel(incident))
    assert len([text for text in said if "Keys" in text]) == 1
