"""Storage for originals and trees: a folder, or object storage with a local cache folder."""

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

from evidence.reader import isolated
from incidents.outages import spare_connections

if TYPE_CHECKING:
    from obstore import Bytes
    from obstore.store import BackoffConfig, ClientConfig, ObjectStore

CHUNK = 1 << 20
# Seconds without a byte after which object storage is given up: someone waits while reading, but an upload takes a
# while to arrive.
PATIENCE_S: Final = 2.5
SENDING_S: Final = 8.0
LONGEST = timedelta(minutes=10)
AT_HAND_S: Final = 24 * 3600  # cached copies of object storage that were not opened for this long are removed
LEFT_S: Final = 24 * 3600  # files being received are modified all the time
TIDY_EVERY_S: Final = 600
# Client options from the environment; given any options, the client no longer reads them itself.
CLIENT: Final = ("allow_http", "allow_invalid_certificates", "proxy_url", "proxy_ca_certificate", "proxy_excludes")
ORIGINALS: Final = "originals/"
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
REFUSED: Final = (
    FULL | isolated.SHORT | {errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ENOTDIR}
)
SAYS: Final = ((FULL, "Evidence storage is full."), (isolated.SHORT, "The server is short of memory or processes."))
NO_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})  # some shared file systems cannot sync folders
BACK_OFF: BackoffConfig = {
    "init_backoff": timedelta(milliseconds=100),
    "max_backoff": timedelta(seconds=1),
    "base": 2,
}


class StorageError(Exception):
    """Storage cannot be reached, or cannot store anything; the message is for the operator.

    ``says`` tells people what is wrong with storage.
    """

    def __init__(self, message: str, *, says: str = "Evidence storage isn't responding.") -> None:
        super().__init__(message)
        self.says = says


class NotStored(StorageError):
    """Storage responds, but has no such file: it was removed there, or this is a different storage."""

    def __init__(self, message: str) -> None:
        super().__init__(message, says="The file is not in the evidence storage any more.")


@contextmanager
def usable() -> Iterator[None]:
    """Raise ``StorageError`` for a folder that cannot be used: it is full, read-only, broken or missing."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        says = next((said for which, said in SAYS if error.errno in which), "Evidence storage can't be used right now.")
        raise StorageError(f"The evidence folder cannot be used: {why}.", says=says) from error


@contextmanager
def refusals_told() -> Iterator[None]:
    """Raise ``StorageError`` for a disk that accepts no writes and a machine without room, and for no other error."""
    try:
        yield
    except OSError as error:
        if error.errno not in REFUSED:
            raise
        with usable():
            raise


@contextmanager
def room() -> Iterator[Path]:
    """Yield an empty folder next to what is stored; it is removed afterwards. Raises ``StorageError``."""
    with usable():
        folder = Path(tempfile.mkdtemp(dir=store().scratch()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_older(paths: Iterable[Path], *, than_s: float) -> None:
    """Remove files and folders that were not modified for this long. Raises ``OSError``."""
    since = time.time() - than_s
    for one in [*paths]:
        with suppress(FileNotFoundError):  # another process was faster
            if one.stat().st_mtime < since:
                shutil.rmtree(one, ignore_errors=True) if one.is_dir() else one.unlink()


class Store(Protocol):
    """Files by key; writing a key again always writes the same content."""

    def keep(self, key: str, path: Path) -> None:
        """Store a file under a key; the file is moved or copied, and no longer belongs to the caller."""

    def local(self, key: str) -> Path:
        """Return a local file with the content; raises ``StorageError``."""

    def has(self, key: str) -> bool:
        """Return whether a key exists, asking storage itself. Raises ``StorageError``."""

    def drop(self, key: str) -> None:
        """Remove a key; one that is already gone is fine. Raises ``StorageError``."""

    def distrust(self, key: str) -> None:
        """Drop a local copy that turned out to be damaged, if it is only a copy."""

    def scratch(self) -> Path:
        """Return a folder for files that are being received."""

    def is_bare(self) -> bool:
        """Return whether no original was ever stored here, as where a disk is not mounted."""


class Folder:
    """A local folder, or one that all machines share.

    Any of its ``copies`` of what is stored elsewhere may be lost.
    """

    def __init__(self, root: Path, *, copies: bool = False) -> None:
        self.root, self.copies = root, copies
        self._tidied = 0.0

    def scratch(self) -> Path:
        """Return a folder on the same file system, so that storing a file is a rename."""
        folder = self.root / "scratch"
        with usable():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def is_bare(self) -> bool:
        """Return whether there is no folder for originals."""
        with usable():
            return not (self.root / ORIGINALS).is_dir()

    def keep(self, key: str, path: Path) -> None:
        """Move a file into place, whole or not at all; it replaces what is there, which may be damaged.

        It is synced to disk: a row that names it would outlive a machine that loses power.
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
        """Remove, now and then, files that killed processes were receiving, which nothing else would remove."""
        if time.time() - self._tidied < TIDY_EVERY_S:
            return
        self._tidied = time.time()
        with suppress(OSError, StorageError):  # another process tidies too, or the disk accepts no writes
            remove_older(self.scratch().iterdir(), than_s=LEFT_S)

    def _settle(self, *paths: Path) -> None:
        """Sync files, and the names in folders, to disk."""
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
        """Return where the file is. Raises ``StorageError`` if there is none."""
        path = self.root / key
        with usable():
            if not path.is_file():
                if not self.root.is_dir():
                    raise StorageError(f"The evidence folder {self.root} is not there.")
                raise NotStored(f"{key} is not in the evidence folder.")
        return path

    def has(self, key: str) -> bool:
        """Return whether the file exists."""
        with usable():
            return (self.root / key).is_file()

    def drop(self, key: str) -> None:
        """Remove the file. Raises ``StorageError`` if that is impossible."""
        with usable():
            (self.root / key).unlink(missing_ok=True)

    def distrust(self, key: str) -> None:
        """Keep it: there is no other copy."""


class Objects:
    """Object storage, with a local folder that caches what was opened within a day."""

    def __init__(self, url: str, *, cache: Folder) -> None:
        self.store, self.sending = _objects(url, patience_s=PATIENCE_S), _objects(url, patience_s=SENDING_S)
        self.cache = cache
        self._tidied = 0.0

    def scratch(self) -> Path:
        """Return a local folder."""
        return self.cache.scratch()

    def is_bare(self) -> bool:
        """Object storage that has lost its bucket says so by itself."""
        return False

    def keep(self, key: str, path: Path) -> None:
        """Upload a file and cache it. Raises ``StorageError`` if storage does not respond."""
        import obstore
        from obstore.exceptions import BaseError

        spare_connections.give_back()
        try:
            obstore.put(self.sending, key, path)
        except (BaseError, OSError) as error:
            raise StorageError(f"Evidence storage rejected a file: {type(error).__name__}.") from error
        with suppress(StorageError):  # it is stored; a missing copy only costs time
            self.cache.keep(key, path)
        path.unlink(missing_ok=True)
        self._tidy()

    def local(self, key: str) -> Path:
        """Return the cached file, downloading it if needed. Raises ``StorageError`` if storage does not respond."""
        path = self.cache.root / key
        with usable():
            if path.is_file():
                with suppress(PermissionError):  # a disk that accepts no writes does not record the use
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
        """Remove, now and then, copies that were not opened for a day: only this removes files withdrawn elsewhere."""
        if time.time() - self._tidied < TIDY_EVERY_S:
            return
        self._tidied = time.time()
        with suppress(OSError):  # another process tidies too, or the disk accepts no writes
            remove_older((one for one in self.cache.root.rglob("*") if one.is_file()), than_s=AT_HAND_S)

    def distrust(self, key: str) -> None:
        """Remove the cached copy: it is downloaded again next time."""
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
        """Return whether it exists in storage, cached or not. Raises ``StorageError`` if storage does not respond."""
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
        """Remove it from storage and the cache. Raises ``StorageError`` if storage does not respond."""
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
    """Raise ``StorageError`` if the download is not the original that was requested."""
    if key.startswith(ORIGINALS) and key != original_key(sha256):
        raise StorageError(f"Evidence storage returned something else for {key}.")


def _objects(url: str, *, patience_s: float) -> ObjectStore:
    """Return a client for object storage. Credentials and endpoint come from the environment (AWS_…)."""
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
    """Write all of it, unbuffered: a buffered write to a full disk would fail again when the file is closed.

    Raises ``StorageError``; errors in the body itself are not caught.
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
    """Return the key of the original with this SHA-256."""
    return f"{ORIGINALS}{sha256[:2]}/{sha256}"


def thumbnail_key(tree: str) -> str:
    """Return the key of a tree's thumbnail."""
    return f"{tree}.png"
