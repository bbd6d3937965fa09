"""The parts of a rolling upgrade: what is taken from git, how connections are distributed, and what is judged."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from stack.chaos.acting import ACCEPTED, UNANSWERED, ActOutcome
from stack.chaos.planned import PlannedAct
from stack.processes import ports
from stack.supervisor import surroundings
from stack.upgrade import answers, rolling_steps, upgrade_run, versions
from stack.upgrade.answers import WebAnswers
from stack.upgrade.balancer import Balancer

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")


def listening() -> socket.socket:
    return ports.listen(0, what="the web", advice="wait")


@contextmanager
def balanced(*doors: socket.socket) -> Iterator[int]:
    """Yield the port of a balancer in front of doors."""
    with listening() as front, closing(Balancer(front)) as balancer:
        balancer.send_to(*map(ports.number, doors))
        yield ports.number(front)


def asked(port: int, door: socket.socket) -> bool:
    """Send a request to a port and return whether this door received it; the door responds."""
    door.settimeout(0.2)
    with socket.create_connection((ports.LOOPBACK, port)) as client:
        client.sendall(b"?")
        try:
            taken = door.accept()[0]
        except TimeoutError:
            return False
        with taken:
            assert taken.recv(1) == b"?"
            taken.sendall(b"!")
        assert client.recv(2) == b"!"
        return client.recv(1) == b""


def test_each_connection_goes_to_the_next_door() -> None:
    with listening() as first, listening() as second, balanced(first, second) as port:
        assert asked(port, first)
        assert asked(port, second)
        assert asked(port, first)


def test_a_door_where_nobody_listens_is_passed_over() -> None:
    with listening() as gone, listening() as second:
        number = ports.number(gone)
        gone.close()
        with listening() as front, closing(Balancer(front)) as balancer:
            balancer.send_to(number, ports.number(second))
            assert asked(ports.number(front), second)
            assert asked(ports.number(front), second)


def test_what_is_out_keeps_the_connections_it_has() -> None:
    with listening() as first, listening() as second, listening() as front, closing(Balancer(front)) as balancer:
        balancer.send_to(ports.number(first))
        with socket.create_connection((ports.LOOPBACK, ports.number(front))) as client, first.accept()[0] as taken:
            balancer.send_to(ports.number(second))
            client.sendall(b"?")
            assert taken.recv(1) == b"?"
            assert asked(ports.number(front), second)
            taken.sendall(b"!")
            assert client.recv(1) == b"!"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Create a repository with three commits, the second one tagged."""
    folder = tmp_path / "repository"
    folder.mkdir()
    subprocess.run([*GIT, "init", "--quiet"], cwd=folder, check=True)
    for n in (1, 2, 3):
        (folder / "code").write_text(f"{n}")
        subprocess.run([*GIT, "add", "code"], cwd=folder, check=True)
        subprocess.run([*GIT, "commit", "--quiet", "-m", f"{n}"], cwd=folder, check=True)
        if n == 2:
            subprocess.run([*GIT, "tag", "v2"], cwd=folder, check=True)
    return folder


def test_the_newest_tag_is_taken_unless_a_commit_is_named(repository: Path, tmp_path: Path) -> None:
    tagged = versions.laid_out("", into=tmp_path / "tagged", repository=repository)
    assert (tagged.tree / "code").read_text() == "2"
    assert tagged.name.startswith("v2 (")
    named = versions.laid_out("HEAD~2", into=tmp_path / "named", repository=repository)
    assert (named.tree / "code").read_text() == "1"


def test_what_there_is_no_history_for_is_said(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(versions.NoHistoryError, match="no git history"):
        versions.laid_out("", into=tmp_path / "code", repository=tmp_path)
    with pytest.raises(versions.NoHistoryError, match="no commit nothing"):
        versions.laid_out("nothing", into=tmp_path / "code", repository=repository)
    subprocess.run([*GIT, "tag", "--delete", "v2"], cwd=repository, check=True, capture_output=True)
    with pytest.raises(versions.NoHistoryError, match="--from COMMIT"):
        versions.laid_out("", into=tmp_path / "code", repository=repository)
    assert upgrade_run.main("--from", "no-such-commit") == 2


def test_a_version_says_itself_what_it_runs(tmp_path: Path) -> None:
    env = surroundings.blank() | surroundings.with_sandbox(data_dir=tmp_path, port=9_000)
    commands = versions.here().commands(env)
    assert {"web", "worker", "evidence"} <= commands.keys()
    assert "sandbox" not in commands
    assert "config.asgi:application" in commands["web"]


def test_steps_follow_one_another_within_the_time() -> None:
    planned = rolling_steps.planned(60)
    assert [one.kind for one in planned] == list(rolling_steps.AT) == list(rolling_steps.STEPS)
    assert 0 < planned[0].at_s < planned[-1].at_s < 60


def test_errors_and_silence_are_held_against_the_upgrade() -> None:
    heard = WebAnswers()
    for status in (200, 503, 500):
        heard.hear("old-web", f'INFO:  127.0.0.1:1 - "POST /slack/events HTTP/1.1" {status} Found')
    heard.hear("web", 'INFO:  127.0.0.1:1 - "GET /health HTTP/1.1" 200 OK')
    heard.hear("worker", 'heard "GET /health HTTP/1.1" 500 from elsewhere')
    assert (heard.of("old-web"), heard.of("web"), heard.of("worker")) == (3, 1, 0)
    act = PlannedAct(1, 0.0, 0, "note", "ada", "zqword")
    outcomes = [ActOutcome(act, ACCEPTED, "calm-otter"), ActOutcome(act, UNANSWERED, "calm-otter", words="gone")]
    found = list(answers.violations(heard, outcomes))
    assert [(one.law, one.codename) for one in found] == [(answers.NO_ERROR, ""), (answers.ANSWERED, "calm-otter")]
    assert found[0].says == "old-web: POST /slack/events was answered 500", "and an event is sent again after a 503"
    assert found[1].says == "ada's note was not answered: gone"
