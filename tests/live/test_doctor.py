"""The doctor on a whole stack: real processes, and vendors behind HTTP."""

from __future__ import annotations

import json

import yaml

from config.env import ROOT
from stack.supervisor.running import Stack

FIXTURES = ("pagerduty.yaml", "workspace.yaml")


def strangers() -> set[str]:
    """Return who may be on call in the sandbox, at some hours, and is no one in its workspace by their email."""
    paged, here = (yaml.safe_load((ROOT / "fixtures" / name).read_text())["people"] for name in FIXTURES)
    known = {one["email"].casefold() for one in here if "email" in one}
    return {one["name"] for one in paged if one["email"].casefold() not in known}


def test_nothing_is_wrong_with_a_stack_that_runs(running_stack: Stack) -> None:
    told = json.loads(running_stack.manage("doctor", "--json").stdout)

    assert told["ok"]
    wrong = [one["says"] for one in told["checks"] if one["level"] != "ok"]
    assert {says.partition(" is paged but not invited: ")[0] for says in wrong} <= strangers()
    fine = [one["says"] for one in told["checks"] if one["level"] == "ok"]
    for expected in (
        "A process worker is alive.",
        "A process evidence is alive.",
        "Our clock agrees with Slack.",
        "Our clock agrees with PagerDuty.",
        "The database role firekind_app owns nothing.",
    ):
        assert expected in fine
