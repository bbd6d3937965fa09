"""Where originals and trees are kept: a folder, or object storage with a folder in front of it."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from io import RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol, cast

from django.conf import settings

from incidents.outages import spare_connections

if TYPE_CHECKING:
    from obstore import Bytes
    from obstore.store import BackoffConfig, ClientConfig, ObjectStore

CHUNK = 1 << 20
# Seconds without a byte after which object storage is given up: somebody waits for what is read, and a piece of what is
# sent takes its time to get there.
PATIENCE_S: Final = 2.5
SENDING_S: Final = 8.0
LONGEST = timedelta(minutes=10)
AT_HAND_S: Final = 24 * 3600  # copies of what is in object storage that nobody opened for so long are removed
LEFT_S: Final = 24 * 3600  # what is on its way in changes all the time
TIDY_EVERY_S: Final = 600
# What the environment may say of the client itself; given any options, it no longer looks there.
CLIENT: Final = ("allow_http", "allow_invalid_certificates", "proxy_url", "proxy_ca_certificate", "proxy_excludes")
ORIGINALS: Final = "originals/"
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
REFUSED: Final = FULL | {errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ENOTDIR}
NO_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})  # some shared file systems sync no folders
BACK_OFF: BackoffConfig = {
    "init_backoff": timedelta(milliseconds=100),
    "max_backoff": timedelta(seconds=1),
    "base": 2,
}


class StorageError(Exception):
    """What was stored cannot be reached, or nothing can be stored; the message is for the operator.

    ``says`` is for people: what is wrong with the storage.
    """

    def __init__(self, message: str, *, says: str = "Evidence storage isn't responding.") -> None:
        super().__init__(message)
        self.says = says


class NotStored(StorageError):
    """The storage answers, and has no such file: it was removed there, or the storage is another one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, says="The file is not in the evidence storage any more.")


@contextmanager
def usable() -> Iterator[None]:
    """Raise ``StorageError`` for a folder that cannot be used: it is full, read-only, broken or away."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        says = "Evidence storage is full." if error.errno in FULL else "Evidence storage can't be used right now."
        raise StorageError(f"The evidence folder cannot be used: {why}.", says=says) from error


@contextmanager
def refusals_told() -> Iterator[None]:
    """Raise ``StorageError`` for a disk that takes nothing, and for nothing else that goes wrong."""
    try:
        yield
    except OSError as error:
        if error.errno not in REFUSED:
            raise
        with usable():
            raise


@contextmanager
def room() -> Iterator[Path]:
    """Give an empty folder beside what is stored, which is gone afterwards. Raises ``StorageError``."""
    with usable():
        folder = Path(tempfile.mkdtemp(dir=store().scratch()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_older(paths: Iterable[Path], *, than_s: float) -> None:
    """Remove files and folders that were not changed for so long. Raises ``OSError``."""
    since = time.time() - than_s
    for one in [*paths]:
        with suppress(FileNotFoundError):  # somebody else was faster
            if one.stat().st_mtime < since:
                shutil.rmtree(one, ignore_errors=True) if one.is_dir() else one.unlink()


class Store(Protocol):
    """Files by key; a key that is written again holds the same content."""

    def keep(self, key: str, path: Path) -> None:
        """Store a file under a key; the file is moved or copied, and not ours any more."""

    def local(self, key: str) -> Path:
        """Return a file of this machine that holds the content; raises ``StorageError``."""

    def has(self, key: str) -> bool:
        """Tell whether something is kept under a key, by the storage itself. Raises ``StorageError``."""

    def drop(self, key: str) -> None:
        """Forget a key; one that is gone already is fine. Raises ``StorageError``."""

    def distrust(self, key: str) -> None:
        """Let go of a copy that turned out to be damaged, where it is only a copy."""

    def scratch(self) -> Path:
        """Return a folder for files that are on their way in."""


class Folder:
    """A folder of this machine, or one that all machines share.

    Of ``copies`` of what is kept elsewhere any may be lost.
    """

    def __init__(self, root: Path, *, copies: bool = False) -> None:
        self.root, self.copies = root, copies
        self._tidied = 0.0

    def scratch(self) -> Path:
        """Return a folder on the same file system, so that keeping a file is a rename."""
        folder = self.root / "scratch"
        with usable():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def keep(self, key: str, path: Path) -> None:
        """Move a file to its place, whole or not at all; what lies there is replaced, as it may have been spoilt.

        It is on the disk then, and not only on its way there: a row that names it would outlive a machine that loses
        power.
        """
        target = self.root / key
        with usable():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._settle(path)
            try:
                path.replace(target)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                with tempfile.NamedTemporaryFile(dir=self.scratch(), delete=False) as copy, path.open("rb") as file:
                    shutil.copyfileobj(file, copy, CHUNK)
                self._settle(Path(copy.name))
                Path(copy.name).replace(target)
                path.unlink()
            self._settle(target.parent, target.parent.parent)
        self._tidy()

    def _tidy(self) -> None:
        """Remove, now and then, what processes that were killed left on its way in: nobody else ever would."""
        if time.time() - self._tidied < TIDY_EVERY_S:
            return
        self._tidied = time.time()
        with suppress(OSError, StorageError):  # another process tidies, too, or the disk takes nothing
            remove_older(self.scratch().iterdir(), than_s=LEFT_S)

    def _settle(self, *paths: Path) -> None:
        """Wait until files, and the names in folders, are on the disk."""
        for path in () if self.copies else paths:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            except OSError as error:
                if error.errno not in NO_SYNC:
                    raise
            finally:
                os.close(descriptor)

    def local(self, key: str) -> Path:
        """Return where the file is. Raises ``StorageError`` where there is none."""
        path = self.root / key
        with usable():
            if not path.is_file():
                if not self.root.is_dir():
                    raise StorageError(f"The evidence folder {self.root} is not there.")
                raise NotStored(f"{key} is not in the evidence folder.")
        return path

    def has(self, key: str) -> bool:
        """Tell whether the file is there."""
        with usable():
            return (self.root / key).is_file()

    def drop(self, key: str) -> None:
        """Remove the file. Raises ``StorageError`` where that cannot be done."""
        with usable():
            (self.root / key).unlink(missing_ok=True)

    def distrust(self, key: str) -> None:
        """Leave it: there is no other."""


class Objects:
    """Object storage, with a folder of this machine that keeps what was opened lately: within a day."""

    def __init__(self, url: str, *, cache: Folder) -> None:
        self.store, self.sending = _objects(url, patience_s=PATIENCE_S), _objects(url, patience_s=SENDING_S)
        self.cache = cache
        self._tidied = 0.0

    def scratch(self) -> Path:
        """Return a folder of this machine."""
        return self.cache.scratch()

    def keep(self, key: str, path: Path) -> None:
        """Upload a file and keep it at hand. Raises ``StorageError`` where it does not answer."""
        import obstore
        from obstore.exceptions import BaseError

        spare_connections.give_back()
        try:
            obstore.put(self.sending, key, path)
        except (BaseError, OSError) as error:
            raise StorageError(f"Evidence storage rejected a file: {type(error).__name__}.") from error
        with suppress(StorageError):  # it is stored: that no copy is at hand costs time alone
            self.cache.keep(key, path)
        path.unlink(missing_ok=True)
        self._tidy()

    def local(self, key: str) -> Path:
        """Return the file at hand, fetching it when it is not. Raises ``StorageError`` where it does not answer."""
        path = self.cache.root / key
        with usable():
            if path.is_file():
                with suppress(PermissionError):  # that it was used is not noted on a disk that takes nothing
                    os.utime(path)
                return path
        spare_connections.give_back()
        digest = hashlib.sha256()
        with usable(), tempfile.NamedTemporaryFile(dir=self.scratch(), delete=False) as file:
            try:
                for chunk in self._pieces(key):
                    digest.update(chunk)
                    file.write(chunk)
                file.flush()
                _check(key, digest.hexdigest())
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        self.cache.keep(key, Path(file.name))
        self._tidy()
        return path

    def _tidy(self) -> None:
        """Remove copies that nobody opened for a day, now and then: what is withdrawn elsewhere goes by this alone."""
        if time.time() - self._tidied < TIDY_EVERY_S:
            return
        self._tidied = time.time()
        with suppress(OSError):  # another process tidies, too, or the disk takes nothing
            remove_older((one for one in self.cache.root.rglob("*") if one.is_file()), than_s=AT_HAND_S)

    def distrust(self, key: str) -> None:
        """Remove what is at hand: the next time it is fetched anew."""
        self.cache.drop(key)

    def _pieces(self, key: str) -> Iterator[Bytes]:
        import obstore
        from obstore.exceptions import BaseError, NotFoundError

        try:
            yield from obstore.get(self.store, key).stream(min_chunk_size=CHUNK)
        except (NotFoundError, FileNotFoundError) as error:
            raise NotStored(f"{key} is not in the evidence storage.") from error
        except (BaseError, OSError) as error:
            raise StorageError(f"Evidence storage couldn't return {key}: {type(error).__name__}.") from error

    def has(self, key: str) -> bool:
        """Tell whether it is there, whatever is at hand. Raises ``StorageError`` where it does not answer."""
        import obstore
        from obstore.exceptions import BaseError, NotFoundError

        try:
            obstore.head(self.store, key)
        except (NotFoundError, FileNotFoundError):
            return False
        except (BaseError, OSError) as error:
            raise StorageError(f"Evidence storage couldn't be asked for {key}: {type(error).__name__}.") from error
        return True

    def drop(self, key: str) -> None:
        """Remove it there and here. Raises ``StorageError`` where it does not answer."""
        import obstore
        from obstore.exceptions import BaseError, NotFoundError

        spare_connections.give_back()
        try:
            obstore.delete(self.store, key)
        except (NotFoundError, FileNotFoundError):
            pass
        except (BaseError, OSError) as error:
            raise StorageError(f"Evidence storage couldn't delete {key}: {type(error).__name__}.") from error
        self.cache.drop(key)


def _check(key: str, sha256: str) -> None:
    """Raise ``StorageError`` where what came is not the original that was asked for."""
    if key.startswith(ORIGINALS) and key != original_key(sha256):
        raise StorageError(f"Evidence storage returned something else for {key}.")


def _objects(url: str, *, patience_s: float) -> ObjectStore:
    """Return a way to object storage. Credentials and endpoint come from the environment (AWS_…)."""
    from obstore.store import from_url

    patience = timedelta(seconds=patience_s)
    given = {name: os.environ.get(f"AWS_{name.upper()}") for name in CLIENT}
    client: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    client |= {"connect_timeout": patience / 2, "read_timeout": patience, "timeout": LONGEST}
    return from_url(
        url,
        retry_config={"max_retries": 3, "retry_timeout": patience, "backoff": BACK_OFF},
        client_options=cast("ClientConfig", client),
    )


@lru_cache(maxsize=4)
def _store(where: str, data_dir: Path) -> Store:
    return (
        Objects(where, cache=Folder(data_dir / "evidence-cache", copies=True))
        if "://" in where
        else Folder(Path(where))
    )


def store() -> Store:
    """Return the storage that the settings name."""
    return _store(settings.FIREKIND.evidence_storage, settings.FIREKIND.data_dir)


def write(file: RawIOBase, chunk: bytes) -> None:
    """Write all of it, unbuffered: what a full disk does not take would fail once more as the file is closed.

    Raises ``StorageError``; what is wrong with the body itself is another matter.
    """
    left = memoryview(chunk)
    with usable():
        while left:
            left = left[file.write(left) or 0 :]


def opened(key: str) -> IO[bytes]:
    """Open a stored file. Raises ``StorageError``."""
    with usable():
        return store().local(key).open("rb")


def original_key(sha256: str) -> str:
    """Return where the original with this SHA-256 is kept."""
    return f"{ORIGINALS}{sha256[:2]}/{sha256}"


def thumbnail_key(tree: str) -> str:
    """Return where the small picture of a tree is kept."""
    return f"{tree}.png"
