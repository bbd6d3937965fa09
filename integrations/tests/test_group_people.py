"""People of a group who are not what Slack last said of them: the others do not wait for long."""

from __future__ import annotations

from integrations.tests.house import House
from integrations.tests.test_group_sync import at, inside, read, rule, turn
from workflows.usergroups import sync, workspace_cache


def test_someone_who_left_unheard_keeps_the_others_out_no_longer_than_until_everyone_is_read_again(
    house: House,
) -> None:
    turn("ann")
    rule(permanent=(house.person("lea"),))
    read(0)
    house.slack.person("lea").is_restricted = True  # and its event is lost
    sync.sync(at=at(0.1))
    assert "ann" not in inside(house)
    for minute in range(1, 20):
        if workspace_cache.is_old(at=at(minute)):
            workspace_cache.refresh(at=at(minute))
        if sync.due(at=at(minute)):
            sync.sync(at=at(minute))
    assert inside(house) == ["ann"]
