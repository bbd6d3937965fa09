"""Storage for evidence: a folder, and S3-compatible object storage."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from evidence.intake import storage
from evidence.intake.storage import Folder, NotStored, Objects, StorageError, Store


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Serve an empty bucket on loopback."""
    from moto.server import ThreadedMotoServer

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def objects(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Objects:
    """Yield object storage with a bucket, and a cache folder."""
    for name, value in {
        "AWS_ENDPOINT": s3,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "only-for-tests",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)
    import httpx

    assert httpx.put(f"{s3}/firekind").status_code == 200
    return Objects("s3://firekind/evidence", cache=Folder(tmp_path / "cache"))


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Yield a storage of each kind."""
    if request.param == "folder":
        return Folder(tmp_path / "kept")
    found: Objects = request.getfixturevalue("objects")
    return found


def on_its_way(store: Store, content: bytes) -> Path:
    path = store.scratch() / "in"
    path.write_bytes(content)
    return path


def test_what_was_spoilt_is_mended_by_keeping_it_again(tmp_path: Path) -> None:
    store = Folder(tmp_path / "kept")
    store.keep("trees/ab/abc", on_its_way(store, b"a tree"))
    store.local("trees/ab/abc").write_bytes(b"no tree")
    store.keep("trees/ab/abc", on_its_way(store, b"a tree"))
    assert store.local("trees/ab/abc").read_bytes() == b"a tree"


def test_what_is_kept_is_had_again(store: Store) -> None:
    store.keep("originals/ab/abc", on_its_way(store, b"main;work 1\n" * 200_000))
    assert store.local("originals/ab/abc").read_bytes() == b"main;work 1\n" * 200_000
    assert list(store.scratch().iterdir()) == []


def test_what_killed_processes_left_on_its_way_in_is_removed_after_a_day(store: Store) -> None:
    old = time.time() - storage.LEFT_S - 60
    for name, at in (("upload", old), ("reading", old), ("upload of now", None), ("reading of now", None)):
        left = store.scratch() / name
        if "reading" in name:
            left.mkdir()
            (left / "tree").write_bytes(b"half a tree")
        else:
            left.write_bytes(b"half a file")
        if at is not None:
            os.utime(left, (at, at))
    store.keep("originals/ab/abc", on_its_way(store, b"main 1\n"))
    assert {one.name for one in store.scratch().iterdir()} == {"upload of now", "reading of now"}


@pytest.mark.parametrize("copies", [False, True])
def test_a_file_is_on_the_disk_before_a_row_may_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copies: bool
) -> None:
    store, synced = Folder(tmp_path / "kept", copies=copies), list[Path]()
    path = on_its_way(store, b"main 1\n")
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(Path(f"/proc/self/fd/{descriptor}").readlink()))
    store.keep("originals/ab/abc", path)
    assert synced == ([] if copies else [path, store.root / "originals/ab", store.root / "originals"])


def test_copies_that_nobody_opened_for_a_day_are_removed(objects: Objects) -> None:
    for key in ("originals/aa/aab", "trees/bb/bbc", "trees/cc/ccd"):
        objects.keep(key, on_its_way(objects, b"main 1\n"))
    old = time.time() - storage.AT_HAND_S - 60
    for key in ("originals/aa/aab", "trees/bb/bbc"):
        os.utime(objects.cache.root / key, (old, old))
    objects.local("trees/bb/bbc")  # opened now
    objects._tidied = 0.0
    objects.keep("trees/dd/dde", on_its_way(objects, b"main 1\n"))
    assert sorted(one.name for one in objects.cache.root.rglob("*") if one.is_file()) == ["bbc", "ccd", "dde"]
    assert objects.has("originals/aa/aab")


def test_it_tells_what_it_has(store: Store) -> None:
    store.keep("originals/cd/cde", on_its_way(store, b"main 1\n"))
    assert store.has("originals/cd/cde")
    store.drop("originals/cd/cde")
    assert not store.has("originals/cd/cde")


def test_keeping_the_same_twice_is_fine(store: Store) -> None:
    for _ in range(2):
        store.keep("originals/cd/cde", on_its_way(store, b"main 1\n"))
    assert store.local("originals/cd/cde").read_bytes() == b"main 1\n"


def test_what_was_dropped_is_gone_and_dropping_it_again_is_fine(store: Store) -> None:
    store.keep("originals/ef/efg", on_its_way(store, b"secret 1\n"))
    for _ in range(2):
        store.drop("originals/ef/efg")
    with pytest.raises(StorageError):
        store.local("originals/ef/efg")


def test_another_machine_fetches_what_it_does_not_have(objects: Objects, tmp_path: Path) -> None:
    objects.keep("trees/12/123", on_its_way(objects, b"tree" * 1000))
    elsewhere = Objects("s3://firekind/evidence", cache=Folder(tmp_path / "elsewhere"))
    assert elsewhere.local("trees/12/123").read_bytes() == b"tree" * 1000
    assert (tmp_path / "elsewhere" / "trees/12/123").is_file()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Objects]:
    """Yield object storage at an address, with little patience."""
    monkeypatch.setattr(storage, "PATIENCE_S", 0.2)
    monkeypatch.setattr(storage, "SENDING_S", 0.2)

    def given(address: str) -> Objects:
        for name, value in {
            "AWS_ENDPOINT": address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "only-for-tests",
        }.items():
            monkeypatch.setenv(name, value)
        return Objects("s3://firekind/evidence", cache=Folder(tmp_path / "at hand"))

    return given


def every_way_fails(store: Objects) -> None:
    with pytest.raises(StorageError, match=r"couldn't return|something else"):
        store.local("originals/no/no")
    with pytest.raises(StorageError, match="couldn't delete"):
        store.drop("originals/no/no")
    with pytest.raises(StorageError, match="rejected a file"):
        store.keep("originals/no/no", on_its_way(store, b"main 1\n"))
    assert not [one for one in store.cache.root.rglob("*") if one.is_file() and one.name != "in"]


def test_a_storage_that_is_away_is_said(elsewhere: Callable[[str], Objects]) -> None:
    every_way_fails(elsewhere("http://127.0.0.1:1"))


def test_a_storage_that_says_nothing_is_away(elsewhere: Callable[[str], Objects]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        every_way_fails(elsewhere(f"http://127.0.0.1:{silent.getsockname()[1]}"))


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 403 X", b"HTTP/1.1 503 X", b"HTTP/1.1 500 X", b"HTTP/1.1 200 OK\r\nLast-Modified: x", b"x"]
)
def test_a_storage_that_refuses_is_away(elsewhere: Callable[[str], Objects], answer: bytes) -> None:
    with saying(answer + b"\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>") as address:
        every_way_fails(elsewhere(address))


def test_a_bucket_that_is_gone_has_nothing_and_takes_nothing(elsewhere: Callable[[str], Objects]) -> None:
    with saying(b"HTTP/1.1 404 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") as address:
        store = elsewhere(address)
        with pytest.raises(NotStored):
            store.local("originals/no/no")
        with pytest.raises(StorageError, match="rejected a file"):
            store.keep("originals/no/no", on_its_way(store, b"main 1\n"))


@contextmanager
def saying(answer: bytes) -> Iterator[str]:
    """Serve the same bytes for every request."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    asking, _ = server.accept()
                except OSError:
                    return
                with asking, suppress(OSError):
                    asking.recv(1 << 16)
                    asking.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)
