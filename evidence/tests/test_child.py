import gzip
import json
import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from evidence.profile.errors import BadProfile, NotRecognised, TooMuch, Unreadable
from evidence.reader import child, isolated
from evidence.tree.calltree import CallTree
from stack.outside import until

pytestmark = pytest.mark.slow
FOLDED = b"main;work 3\nmain;work;deeper 2\nmain 1\n"


def forkers() -> list[psutil.Process]:
    """The processes that fork, or still wait for running jobs."""
    return [psutil.Process(one.pid) for one in isolated._forker._started if one.poll() is None]


def readers() -> list[psutil.Process]:
    """The processes that are reading right now."""
    return [reader for forker in forkers() for reader in forker.children()]


def opened(reader: psutil.Process) -> list[str]:
    return sorted(one.name for one in Path(f"/proc/{reader.pid}/fd").iterdir())


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "profile"
    path.write_bytes(FOLDED)
    return path


def test_a_profile_is_read_in_a_process_of_its_own(profile: Path) -> None:
    summary = child.read_apart(profile, tree=profile.with_name("tree"))
    assert summary.format == "folded"
    assert [kind["total"] for kind in summary.sample_types] == [6]
    assert summary.functions[0] == {"name": "main", "self": 1, "total": 6}
    assert CallTree.open(profile.with_name("tree")).total() == 6


def test_what_is_wrong_comes_back_as_the_same_error_and_stores_nothing(profile: Path) -> None:
    profile.write_bytes(b"<!doctype html><p>Sign in")
    with pytest.raises(NotRecognised, match="web page"):
        child.read_apart(profile, tree=profile.with_name("tree"))
    profile.write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(BadProfile) as error:
        child.read_apart(profile, tree=profile.with_name("tree"))
    assert error.value.where == "byte 3"
    assert [path.name for path in profile.parent.iterdir()] == ["profile"]


def test_time_is_bounded(profile: Path) -> None:
    profile.unlink()
    os.mkfifo(profile)  # no one writes to it, so reading never ends
    with pytest.raises(TooMuch, match="more time"):
        child.read_apart(profile, tree=profile.with_name("tree"), timeout_s=0.1)
    assert readers() == []


def test_memory_is_bounded(profile: Path) -> None:
    os.truncate(profile, 300 << 20)
    with pytest.raises(TooMuch, match="more memory"):
        child.read_apart(profile, tree=profile.with_name("tree"), memory_mib=256)


def test_processor_time_is_bounded(profile: Path) -> None:
    frame = {"functionName": "f", "url": "", "lineNumber": 0}
    nodes = [{"id": n, "callFrame": frame, "children": [n + 1]} for n in range(1, 9000)]
    content = {"nodes": [*nodes, {"id": 9000, "callFrame": frame}], "samples": list(range(1, 9001))}
    profile.write_text(json.dumps(content))
    with pytest.raises(TooMuch, match="more time"):
        child.read_apart(profile, tree=profile.with_name("tree"), cpu_s=1)


def test_the_reader_inherits_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "SECRET_KEY", "SLACK_BOT_TOKEN"):
        monkeypatch.setenv(name, "hush")
    assert "hush" not in isolated.environment().values()
    assert isolated.environment()["PATH"] == os.environ["PATH"]


def test_the_reader_has_nothing_of_ours_open(profile: Path) -> None:
    child.read_apart(profile, tree=profile.with_name("tree"))
    pipes = [profile.with_name(name) for name in ("one", "other")]
    for pipe in pipes:
        os.mkfifo(pipe)
    with ThreadPoolExecutor(2) as pool:
        reading = [pool.submit(child.read_apart, pipe, tree=pipe.with_suffix(".tree")) for pipe in pipes]
        try:
            until(lambda: len(readers()) == 2, what="it is not read yet")
            # A module being imported is open for a moment; inherited files stay open.
            until(lambda: [opened(one) for one in readers()] == [["0", "1", "2"]] * 2, what="more is open")
        finally:
            for pipe in pipes:
                pipe.open("wb").close()
        for one in reading:
            with pytest.raises(Unreadable):
                one.result()


def test_work_goes_on_after_whatever_ends_a_reader_or_all_of_them(profile: Path) -> None:
    for broken in (readers, forkers):
        path = profile.with_name("waits")
        os.mkfifo(path)
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(child.read_apart, path, tree=profile.with_name("tree"))
            until(lambda: len(readers()) == 1, what="it is not read yet")
            left = readers()
            for one in broken():
                one.kill()
            with pytest.raises(child.ReaderKilled):
                reading.result()
        assert not psutil.wait_procs(left, timeout=60)[1]
        path.unlink()
        assert child.read_apart(profile, tree=profile.with_name("tree")).format == "folded"


def test_a_reader_that_breaks_is_our_mistake_and_said_so(caplog: pytest.LogCaptureFixture, profile: Path) -> None:
    profile.unlink()
    with caplog.at_level(logging.ERROR), pytest.raises(Unreadable, match="reader failed"):
        child.read_apart(profile, tree=profile.with_name("tree"))
    assert "No such file" in caplog.text


def test_that_no_reader_can_be_started_is_our_mistake_and_said_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, profile: Path
) -> None:
    isolated._forker.end()
    monkeypatch.setattr(isolated, "HOME", profile.parent)
    with caplog.at_level(logging.ERROR), pytest.raises(Unreadable, match="reader failed"):
        child.read_apart(profile, tree=profile.with_name("tree"))
    assert "No module named" in caplog.text


def test_starting_a_reader_loads_no_numpy_here() -> None:
    program = "import sys; from evidence.reader import child; raise SystemExit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


LOADS = """
import json, sys
from pathlib import Path
from evidence.reader import fork_server
fork_server._load()
before = set(sys.modules)
from evidence.drawing import draw_picture
from evidence.reader import reading
file, tree, room = sys.argv[1:]
sys.argv[1:] = []
assert reading.main([file, "--tree", tree, "--summary", f"{room}/summary", "--thumbnail", f"{room}/small"]) == 0
sys.stdin = open(f"{room}/asked", "w+")
json.dump({"tree": tree, "out": f"{room}/picture", "title": "t", "says": "s"}, sys.stdin)
sys.stdin.seek(0)
assert draw_picture.main() == 0
print(*(name for name in sorted(set(sys.modules) - before) if name.startswith(("evidence", "PIL", "numpy"))))
"""


def test_what_a_fork_reads_and_draws_with_was_loaded_before(profile: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", LOADS, str(profile), str(tmp_path / "tree"), str(tmp_path)]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")


def test_what_is_large_and_no_profile_is_not_recognised(profile: Path) -> None:
    profile.write_bytes(gzip.compress(b"\x81\x9a\xee\x03" * (9 << 20), compresslevel=1))
    with pytest.raises(NotRecognised):
        child.read_apart(profile, tree=profile.with_name("tree"))
