"""The house of a run: with two seeds in three, it has other types and user groups than the demo.

The slugs of types, the names of people and the callees stay, because acts name them.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

import yaml

from config.env import ROOT
from integrations.slack.fake import seed as workspace
from stack.chaos.scenario import ANNOUNCED, GUESTS, OUTSIDERS, PAGED, STAFF
from stack.services import pgbouncer
from stack.supervisor import surroundings

TYPES, WORKSPACE = "INCIDENT_TYPES_FILE", "FIREKIND_SANDBOX_WORKSPACE"
SHIPPED: Final = ROOT / "fixtures" / "incident_types.yaml"
LEFT, MACHINE = "jonas", "deploybot"  # someone who left the company, and a bot: both may be in a group
SCHEDULES: Final = ("Leadership on call", "Engineering on call", "Support on call", "a schedule that is not there")
ALONE: Final = 4  # the bit of a seed that gives a house a single worker for everything
POOLED, POOL = 1, 10  # which seed in five has a pooler, and with how many connections


def drawn(seed: int, *, folder: Path) -> dict[str, str]:
    """Return the settings for a seed's house, written into a folder; empty for the demo's."""
    if seed % 3 == 0:
        return {}
    chance = random.Random(f"house {seed}")  # noqa: S311 (who is in which group, nothing secret)
    about = {TYPES: types(_read(SHIPPED), chance), WORKSPACE: groups(workspace.read(), chance)}
    written = {}
    for setting, body in about.items():
        path = folder / f"{setting.lower()}.yaml"
        path.write_text(yaml.safe_dump(body, allow_unicode=True, sort_keys=False), encoding="utf-8")
        written[setting] = str(path)
    return written


def alone(seed: int) -> dict[str, str]:
    """Return the settings that make the worker also handle evidence, as `make run` does; for half of all seeds."""
    return dict(surroundings.ONE_MACHINE) if seed & ALONE else {}


def pool(seed: int) -> int:
    """Return how many connections PgBouncer has for a seed, if it is installed; 0 means none."""
    if seed % 5 != POOLED:
        return 0
    if pgbouncer.find() is None:
        print("PgBouncer is not installed, so that none is in between", flush=True)
        return 0
    return POOL


def types(about: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Randomise what each type invites, pages, announces and closes; at least one stays open, and security closed."""
    handles = [one["handle"] for one in workspace.read()["groups"]]
    shipped = about["types"]
    about["default"] = chance.choice([one["slug"] for one in shipped])
    for one in shipped:
        one["private"] = one["slug"] == "security" or (one["slug"] != "ambiguous" and chance.random() < 0.25)
        one["announce"] = not one["private"] and chance.random() < 0.7
        one["invite"] = chance.sample(handles, chance.randint(0, 4))
        one["pages"] = chance.sample(PAGED, chance.choice((0, 0, 1, 2)))
        one["one_of"] = list(_one_of(handles, chance)) if chance.random() < 0.4 else []
    return about


def _one_of(handles: list[str], chance: random.Random) -> list[dict[str, str]]:
    role = {"role": "Decides", "group": chance.choice(handles), "schedule": chance.choice(SCHEDULES)}
    kept = chance.choice((("role", "group"), ("role", "schedule"), ("role", "group", "schedule")))
    return [{name: role[name] for name in kept}]


def groups(about: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Put other people into each group, including guests and partners; one group does not exist.

    The announcement channel may be archived, or private and without the app.
    """
    anybody = [*STAFF, *STAFF, *GUESTS, *OUTSIDERS, LEFT, MACHINE]
    for one in about["groups"]:
        one["members"] = list(dict.fromkeys(chance.sample(anybody, chance.randint(0, 7))))
    about["groups"].remove(chance.choice(about["groups"]))
    announced = next(one for one in about["channels"] if one["name"] == ANNOUNCED)
    announced |= chance.choice(({}, {}, {"is_archived": True}, {"is_private": True, "members": ["ada", "grace"]}))
    about["channels"] = [announced if one["name"] == ANNOUNCED else one for one in about["channels"]]
    return about


def _read(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))
