"""The doctor on a whole stack: real processes, and vendors behind HTTP."""

from __future__ import annotations

import json

from stack.supervisor.running import Stack


def test_nothing_is_wrong_with_a_stack_that_runs(running_stack: Stack) -> None:
    told = json.loads(running_stack.manage("doctor", "--json").stdout)

    assert told["ok"]
    wrong = [one["says"] for one in told["checks"] if one["level"] != "ok"]
    # At night the sandbox also pages a shared phone, which is no one's in the workspace.
    assert [says for says in wrong if not says.startswith("Night desk is paged but not invited")] == []
    fine = [one["says"] for one in told["checks"] if one["level"] == "ok"]
    for expected in (
        "A process worker is alive.",
        "A process evidence is alive.",
        "Our clock agrees with Slack.",
        "Our clock agrees with PagerDuty.",
        "The database role firekind_app owns nothing.",
    ):
        assert expected in fine
