"""`manage.py profile`: as a program on a machine that has only the file, and what it prints, in this process."""

import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evidence.management.commands.profile import Command

HOME = Path(__file__).resolve().parents[2]
FOLDED = b"main;encrypt;mix 30\nmain;read 50\nmain;encrypt 5\nmain;encrypt;retry;encrypt 15\n"
AFTER = b"main;encrypt;mix 3\nmain;read 97\n"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "before"
    path.write_bytes(FOLDED)
    (tmp_path / "after").write_bytes(AFTER)
    return path


def run(*args: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    env = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "HOME"}}
    command = [sys.executable, str(HOME / "manage.py"), "profile", *map(str, args)]
    return subprocess.run(command, env=env, cwd=HOME, input=stdin, capture_output=True, check=False)


def here(*args: str | Path) -> str:
    """Return what the command prints."""
    out = StringIO()
    call_command(Command(), *map(str, args), stdout=out)
    return out.getvalue()


def answer(*args: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(here(*args, "--json"))
    return found


@pytest.mark.slow
def test_it_says_format_unit_total_sentence_and_functions(profile: Path) -> None:
    done = run(profile, "--search", "enc")
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    for part in ("folded", "samples", "100", "pass through `", "Matched: 50.00 %", "encrypt"):
        assert part in text
    assert json.loads(run(profile, "--json").stdout) == answer(profile)


def test_json_holds_exact_integers_of_all_functions(profile: Path) -> None:
    found = answer(profile, "--search", "encrypt|retry")
    assert found["format"] == "folded"
    assert [kind["total"] for kind in found["sample_types"]] == [100]
    assert {one["name"]: (one["self"], one["total"]) for one in found["functions"]} == {
        "main": (0, 100),
        "encrypt": (20, 50),
        "read": (50, 50),
        "mix": (30, 30),
        "retry": (0, 15),
    }
    assert (found["matched"]["total"], found["matched"]["percent"]) == (50, 50)
    assert found["skipped"] == 0
    assert len(answer(profile, "--top", "2")["functions"]) == 2


@pytest.mark.slow
def test_folded_stacks_come_out_as_they_went_in(profile: Path) -> None:
    done = run(profile, "--folded")
    assert sorted(done.stdout.splitlines()) == sorted(FOLDED.splitlines())
    for piped in ("-", "/dev/stdin"):
        assert run(piped, "--folded", stdin=done.stdout).stdout == done.stdout


def test_what_moved_is_said_in_points(profile: Path) -> None:
    found = answer(profile, "--diff", profile.with_name("after"))["diff"]
    assert {one["name"]: round(one["points"], 6) for one in found["moved"]} == {
        "encrypt": -47,
        "read": 47,
        "mix": -27,
        "retry": -15,
    }
    assert "+47.00" in here(profile, "--diff", profile.with_name("after"))
    assert answer(profile, "--diff", profile)["diff"]["moved"] == []


def test_another_measurement_says_its_sentence(profile: Path) -> None:
    lines = "".join(f"BenchmarkWrite-8 \t 1000 \t {50_000 + n} ns/op\n" for n in range(5))
    profile.write_text(f"goos: linux\n{lines}PASS\n")
    assert "no profile" in here(profile)
    assert answer(profile)["kind"] == "benchmark"


@pytest.mark.slow
def test_a_pipe_that_closes_early_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"".join(b"main;work_%d;%s 1\n" % (n, b"x" * 500) for n in range(5000)))
    command = [sys.executable, str(HOME / "manage.py"), "profile", str(path), "--folded"]
    with subprocess.Popen(command, cwd=HOME, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith(b"main;")
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nowhere"], "No such file"),
        (["."], "directory"),
        (["page"], "web page"),
        (["torn"], "byte 3"),
        (["before", "--sample-type", "heap"], "no sample type 'heap'"),
        (["before", "--search", "("], "Invalid regular expression"),
        (["before", "--diff", "page"], "page: This is a web page"),
    ],
)
def test_what_is_wrong_is_one_line(profile: Path, args: list[str], words: str) -> None:
    profile.with_name("page").write_bytes(b"<!doctype html><p>Sign in")
    profile.with_name("torn").write_bytes(b"\x1f\x8b\x08")
    paths = [str(profile.with_name(arg)) if arg in {"nowhere", "page", "torn", "before"} else arg for arg in args]
    with pytest.raises(CommandError, match=re.escape(words)) as error:
        here(*paths)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_what_is_wrong_ends_the_program(profile: Path) -> None:
    done = run(profile.with_name("nowhere"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"\n") == 1


def test_a_small_profile_loads_neither_django_nor_arrow_nor_threads(profile: Path) -> None:
    read = "import sys; from evidence.reader import terminal; terminal.main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", read, profile], cwd=HOME, capture_output=True, check=True)
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert "evidence.formats.folded.folded" in loaded
    assert not loaded & {"django", "pyarrow", "asyncio", "concurrent.futures", "evidence.formats.jfr.recording"}
