"""Slow outputs made from trees: made by few processes at a time, which give way to pages, and cached for a while."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from evidence.intake import storage, stored_tree
from evidence.intake.storage import StorageError
from evidence.profile.errors import Unreadable
from evidence.reader import isolated, making
from incidents.outages import spare_connections

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

log = logging.getLogger(__name__)
VERSION: Final = 2  # of the outputs
SHORT: Final = 24  # digits of each tree's hash in a file name: short enough for all sides of a comparison
SMALL: Final = 512 << 10  # a tree of at most this many bytes is done before a process would have started
AT_ONCE: Final = 2
PATIENCE_S: Final = 2.0  # for others to finish
TIMEOUT_S: Final = 90.0
RETRY_S: Final = 5
KEPT_S: Final = 3600
MAKING: Final = "making-"
KEPT_BYTES: Final = 512 << 20
_turns = threading.BoundedSemaphore(AT_ONCE)
_under_way: dict[Path, threading.Event] = {}  # set once it exists, or has failed
_looking = threading.Lock()


class MakingBusy(Exception):
    """Others are being made, and this one has waited long enough: ask again."""


def of(tree: str, form: str, **asked: Any) -> IO[bytes]:
    """Return one of ``making.FORMS`` of a stored tree as a file. Raises ``MakingBusy`` and ``StorageError``."""
    with storage.refusals_told():
        return _of(tree, form, asked)


def _of(tree: str, form: str, asked: dict[str, Any]) -> IO[bytes]:
    path = storage.store().local(tree)
    if path.stat().st_size <= SMALL:
        return io.BytesIO(b"".join(making.FORMS[form](stored_tree.opened(tree), asked)))
    kept = _folder() / f"{_prefix(tree)}-{_digest(form, asked)}"
    with suppress(FileNotFoundError):
        return _kept(kept)
    with _looking:
        another = _under_way.get(kept)
        done = another or _under_way.setdefault(kept, threading.Event())
    if another:
        return _waited_for(kept, done)
    try:
        with _turn():
            _make(path, form, asked, kept)
            file = kept.open("rb")
            _forget_if_gone(tree)
            _tidy()
            return file
    finally:
        del _under_way[kept]
        done.set()


def merged(trees: Sequence[str], *, types: Sequence[int], merge: Callable[[], CallTree]) -> CallTree:
    """Return stored trees merged into one: from the cache, else made now, and cached if there is room."""
    from evidence.tree.calltree import CallTree  # imports numpy: only once a profile is opened

    name = "-".join([*(_prefix(tree)[:SHORT] for tree in trees), _digest("merged", {"trees": trees, "types": types})])
    with suppress(StorageError, ValueError, KeyError, Unreadable), storage.usable():
        kept = _folder() / name
        os.utime(kept)
        return CallTree.open(kept)
    found = merge()
    with suppress(StorageError), storage.usable(), storage.room() as folder:
        found.save(folder / "tree")
        (folder / "tree").replace(_folder() / name)
        _forget_if_gone(*trees)
        _tidy()
    return found


def forget(tree: str) -> None:
    """Remove everything that was made of a tree, alone or with others."""
    for one in _folder().glob(f"*{_prefix(tree)[:SHORT]}*"):
        one.unlink(missing_ok=True)


def _forget_if_gone(*trees: str) -> None:
    """Remove what was made of a tree that was removed meanwhile because its evidence was withdrawn."""
    with suppress(StorageError):  # if storage is down, nothing was removed there
        for tree in trees:
            if not storage.store().has(tree):
                forget(tree)


def _kept(path: Path) -> IO[bytes]:
    os.utime(path)
    return path.open("rb")


def _waited_for(kept: Path, done: threading.Event) -> IO[bytes]:
    """Return what someone else has already requested, once it exists. Raises ``MakingBusy``."""
    spare_connections.give_back()
    done.wait(PATIENCE_S)
    try:
        return _kept(kept)
    except FileNotFoundError:
        raise MakingBusy from None


@contextmanager
def _turn() -> Iterator[None]:
    spare_connections.give_back()
    if not _turns.acquire(timeout=PATIENCE_S):
        raise MakingBusy
    try:
        yield
    finally:
        _turns.release()


def _make(tree: Path, form: str, asked: dict[str, Any], target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=MAKING) as room:
        out = Path(room) / "made"
        given = {"form": form, "tree": str(tree.resolve()), "out": str(out.resolve()), "asked": asked}
        try:
            ended = isolated.run(b"m", json.dumps(given).encode(), room=out.parent, timeout_s=TIMEOUT_S)
        except (isolated.Late, isolated.Gone) as error:
            ended = isolated.Ended(1, type(error).__name__)
        if ended.code:
            log.error("%s could not be made of a profile: %s", form, ended.said)
            raise MakingBusy
        out.replace(target)


def _tidy() -> None:
    """Remove what was not requested lately, and the oldest of what exceeds the limit."""
    storage.remove_older(_folder().glob(f"{MAKING}*"), than_s=KEPT_S)  # of processes that were killed
    since, left = time.time() - KEPT_S, KEPT_BYTES
    files: list[tuple[os.stat_result, Path]] = []
    for one in _folder().iterdir():
        with suppress(FileNotFoundError):  # other processes tidy too
            files += [(one.stat(), one)] if one.is_file() else []
    for about, one in sorted(files, key=lambda found: -found[0].st_mtime):
        left -= about.st_size
        if left < 0 or about.st_mtime < since:
            one.unlink(missing_ok=True)


def _folder() -> Path:
    folder = storage.store().scratch().parent / "made"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _prefix(tree: str) -> str:
    return hashlib.sha256(tree.encode()).hexdigest()[:32]


def _digest(form: str, asked: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps([VERSION, form, sorted(asked.items())]).encode()).hexdigest()[:32]
