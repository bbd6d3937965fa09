"""docs/evidence.md is true of the code."""

from __future__ import annotations

import re
from dataclasses import fields

from config.env import ROOT
from evidence import formats
from evidence.management.commands import evidence_token, profile
from integrations.api import parameters

TEXT = (ROOT / "docs/evidence.md").read_text(encoding="utf-8")


def parser_of(command: type) -> str:
    return str(command().create_parser("manage.py", "x").format_help())


def test_every_parameter_of_the_api_is_described() -> None:
    known = {name for one in fields(parameters.UploadParameters) for name in _said(one.name)}
    table = TEXT.partition("## The API")[2].partition("## ")[0]
    described = {
        name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)
    }
    assert known - described <= {"control"}
    assert "control=1" in table


def test_options_of_the_commands_are_those_there_are() -> None:
    shown = TEXT.partition("## From a terminal")[2].partition("## ")[0]
    for command, line in ((profile.Command, "profile FILE"), (evidence_token.Command, "evidence_token EMAIL")):
        said = next(one for one in shown.splitlines() if one.startswith(f"manage.py {line}"))
        options = set(re.findall(r"--[\w-]+", said))
        assert options <= set(re.findall(r"--[\w-]+", parser_of(command)))


def test_every_format_is_named() -> None:
    words = TEXT.casefold()
    assert not {name for name in formats.FORMATS if name.partition("_")[0] not in words}


def _said(field: str) -> tuple[str, ...]:
    return {"window": ("from", "to"), "wait_s": ("wait",), "is_control": ("control",)}.get(field, (field,))
