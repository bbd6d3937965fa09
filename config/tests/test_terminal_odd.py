"""Whatever is typed after `manage.py` is done or refused in a sentence, with an exit code and never a traceback."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, ManagementUtility, get_commands
from django.db import DatabaseError, connections, transaction
from django.utils import timezone

import manage
from config.env import ROOT
from config.process.told_plainly import readable, told_plainly
from incidents import lifecycle
from incidents.models import Person
from incidents.tests import shipped

OURS: Final = sorted(name for name, app in get_commands().items() if not app.startswith(("django.", "allauth")))
NUMBERS: Final = ("0", "-1", "1e3", "nan", "inf", "9" * 12, "9" * 25, "\u0665", "")
TEXTS: Final = ("", " ", "\udcff", "x" * 20_000, "\u202e", "--", "@", "%", "../x")
DAYS: Final = ("0001-01-01", "9999-12-31", "2026-02-30", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00", "now")
BUGS: Final = (ArithmeticError, AttributeError, DatabaseError, LookupError, OSError, TypeError, ValueError)
LONG: Final = {"slack_socket", "doctor", "restored", "slack_check", "pagerduty_check"}  # they connect to the outside


def lines(codename: str, folder: Path) -> dict[str, list[list[str]]]:
    """Ways to call each command, with one odd thing in each."""
    missing, binary = folder / "none.yaml", folder / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\0types: [")
    files = [str(missing), str(folder), str(binary), "/dev/null", "x" * 5_000]
    of_one = ["show", "update", "note", "impact", "mitigate", "resolve", "task", "followup", "page", "capture"]
    return {
        "incident": [
            *(["declare", odd] for odd in TEXTS),
            *(["declare", "x", "--type", odd] for odd in TEXTS),
            *(["declare", "x", "--summary", odd] for odd in TEXTS),
            *(["declare", "x", "--by", odd] for odd in TEXTS),
            *([verb, odd] for verb in of_one for odd in TEXTS),
            *([verb, codename, odd] for verb in of_one for odd in TEXTS),
            *(["finish", codename, odd] for odd in NUMBERS),
            *(["redact", codename, odd] for odd in NUMBERS),
            *(["replay", codename, "--speed", odd] for odd in NUMBERS),
            *(["capture", codename, "nowhere", "cpu", odd] for odd in NUMBERS),
            *(["task", codename, "x", "--due", odd] for odd in DAYS),
            *(["task", codename, "x", "--owner", odd] for odd in TEXTS),
            *(["retype", codename, odd] for odd in TEXTS),
            *(["retype", codename, "security", "--bring", odd] for odd in TEXTS),
            *(["page", codename, "x", "--because", odd] for odd in TEXTS),
            *(["open-glass", codename, "--because", odd, "--by", "ada@example.com"] for odd in TEXTS),
            ["open-glass", codename, "--because", "why"],
        ],
        "audit": [
            *(["verify", "--from", odd] for odd in NUMBERS),
            *(["verify", "--head", odd] for odd in TEXTS),
            *(["export", "--since", odd] for odd in (*DAYS, *TEXTS)),
            ["head"],
        ],
        "evidence_token": [
            *([odd] for odd in TEXTS),
            *(["ada@example.com", "--hours", odd] for odd in (*NUMBERS, "1e300", "0.001", "1e9")),
            *(["ada@example.com", "--incident", odd] for odd in TEXTS),
            *(["ada@example.com", "--name", odd] for odd in TEXTS),
            ["ada@example.com", "--scope", "everything"],
            ["ada@example.com", "--scope", "incidents:read", "--incident", codename],
        ],
        "role": [*([odd] for odd in TEXTS), *([odd, "manager"] for odd in TEXTS), ["ada@example.com", "king"]],
        "oncall": [[odd] for odd in TEXTS],
        "load_types": [[odd] for odd in files],
        "types": [
            *([verb, odd] for verb in ("plan", "apply") for odd in files),
            *(["plan", "fixtures/incident_types.yaml", "--over", odd] for odd in ("0d", "9" * 30 + "d", "\u0665d")),
            *(["apply", "fixtures/incident_types.yaml", "--by", odd] for odd in TEXTS),
        ],
        "policy": [["try", odd] for odd in files],
        "profile": [[odd] for odd in files],
        "slack_check": [["--tell", odd] for odd in TEXTS],
    }


@pytest.fixture
def codename(db: None) -> str:
    """Declare an incident of Ada's."""
    kinds = shipped.bring()
    ada = Person.objects.create(name="Ada", email="ada@example.com", chat_id="UADA")
    return lifecycle.declare("Checkout is slow", by=ada, at=timezone.now(), type=kinds["major"]).codename


def ended(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    """Call a command like `manage.py`, but keep the connection open; return its exit code and its last output."""
    code: object = 0
    command: Any = ManagementUtility(["manage.py"]).fetch_command(words[0])
    command._called_from_command_line = True
    parser = command.create_parser("manage.py", words[0])
    try:
        with told_plainly():
            options = vars(parser.parse_args(readable(words[1:])))
            command.execute(*options.pop("args", ()), **options)
    except SystemExit as end:
        code = end.code
    except CommandError as refused:
        return 1, str(refused)
    except BUGS as error:
        code = f"{type(error).__name__}: {str(error)[:100]}"
    return code, capsys.readouterr().err


@pytest.mark.parametrize("name", [one for one in OURS if one not in LONG - {"slack_check"}])
def test_whatever_is_typed_is_done_or_refused_in_a_sentence(
    name: str, codename: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed: list[Any] = []
    for words in [["--nonsense"], ["x", "y", "z", "one too many"], *lines(codename, tmp_path).get(name, [])]:
        with transaction.atomic():  # one process for each
            code, said = ended([name, *words], capsys)
            transaction.set_rollback(True)
        told = re.sub("x{200,}", "…", said).strip().splitlines()
        is_plain = code == 0 or (
            code in {1, 2} and told and len(told[-1]) < 700 and "Traceback" not in said and "cannot be used" not in said
        )
        if not is_plain:
            failed.append(([name, *(word[:30] for word in words)], code, said[-200:]))
    assert not failed, "\n".join(map(repr, failed))


@pytest.mark.parametrize("words", [["list"], ["show", "CODENAME"], ["declare", "x"], ["list", "--json"]])
@pytest.mark.parametrize("nobody", ["", " ", "ada", "@", "ada@", "a b@example.com"])
def test_who_is_no_email_is_not_the_terminal_itself_and_nobody_new(
    words: list[str], nobody: str, codename: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Person.objects.count()
    words = ["incident", *(codename if one == "CODENAME" else one for one in words), "--by", nobody]
    code, said = ended(words, capsys)
    assert (code, "is not an email address" in said) == (1, True)
    assert "Checkout" not in said
    assert Person.objects.count() == before


@pytest.mark.parametrize("letters", ["ascii", "latin-1"])
def test_a_terminal_without_all_letters_is_told_all_the_same(
    letters: str, codename: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A traceback would abort the command, or follow finished work, which people would then repeat."""
    incident = lifecycle.declare(
        "Zahlung bröckelt 💥", by=Person.objects.get(email="ada@example.com"), at=timezone.now()
    )
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=letters, write_through=True))
    monkeypatch.setattr(connections, "close_all", lambda: None)  # this test's connection is still needed
    monkeypatch.setattr(sys, "argv", ["manage.py", "incident", "show", incident.codename])
    manage.main()
    assert "Zahlung br" in written.getvalue().decode(letters)


@pytest.mark.parametrize(("into", "code"), [("| head -0", 141), ("> /dev/full", 1)])
def test_where_its_words_cannot_go_it_ends_without_a_traceback(into: str, code: int, db: None) -> None:
    """For a pipe that no one reads, and a full disk."""
    long = "import sys; print('x' * 100_000)"
    told = f"import sys\nfrom config.process.told_plainly import written_out\nwith written_out():\n    {long}"
    line = f"set -o pipefail; {shlex.quote(sys.executable)} -c {shlex.quote(told)} {into}"
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (code, False), ended.stderr
    assert ("no space left" in ended.stderr) == (code == 1)
