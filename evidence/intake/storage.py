"""Where originals and trees are kept: a folder, or object storage with a folder in front of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from django.conf import settings

from incidents.outages import spare_connections

if TYPE_CHECKING:
    from obstore.store import BackoffConfig

CHUNK = 1 << 20
PATIENCE = timedelta(seconds=20)
BACK_OFF: BackoffConfig = {
    "init_backoff": timedelta(milliseconds=100),
    "max_backoff": timedelta(seconds=2),
    "base": 2,
}


class StorageError(Exception):
    """What was stored cannot be reached; the message is for the operator."""


class Store(Protocol):
    """Files by key; a key that is written again holds the same content."""

    def keep(self, key: str, path: Path) -> None:
        """Store a file under a key; the file is moved or copied, and not ours any more."""

    def local(self, key: str) -> Path:
        """Return a file of this machine that holds the content; raises ``StorageError``."""

    def drop(self, key: str) -> None:
        """Forget a key; one that is gone already is fine."""

    def scratch(self) -> Path:
        """Return a folder for files that are on their way in."""


class Folder:
    """A folder of this machine, or one that all machines share."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def scratch(self) -> Path:
        """Return a folder on the same file system, so that keeping a file is a rename."""
        folder = self.root / "scratch"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def keep(self, key: str, path: Path) -> None:
        """Move a file to its place, whole or not at all; what lies there is replaced, as it may have been spoilt."""
        target = self.root / key
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            path.replace(target)
        except OSError:  # from another file system
            with tempfile.NamedTemporaryFile(dir=self.scratch(), delete=False) as copy, path.open("rb") as file:
                shutil.copyfileobj(file, copy, CHUNK)
            Path(copy.name).replace(target)
            path.unlink()

    def local(self, key: str) -> Path:
        """Return where the file is. Raises ``StorageError`` where there is none."""
        path = self.root / key
        if not path.is_file():
            raise StorageError(f"{key} is not in the evidence folder.")
        return path

    def drop(self, key: str) -> None:
        """Remove the file."""
        (self.root / key).unlink(missing_ok=True)


class Objects:
    """Object storage, with a folder of this machine that keeps what was opened lately."""

    def __init__(self, url: str, *, cache: Folder) -> None:
        from obstore.store import from_url

        # Credentials and endpoint come from the environment (AWS_…).
        self.store = from_url(url, retry_config={"max_retries": 3, "retry_timeout": PATIENCE, "backoff": BACK_OFF})
        self.cache = cache

    def scratch(self) -> Path:
        """Return a folder of this machine."""
        return self.cache.scratch()

    def keep(self, key: str, path: Path) -> None:
        """Upload a file and keep it at hand. Raises ``StorageError`` where it does not answer."""
        import obstore
        from obstore.exceptions import BaseError

        spare_connections.give_back()
        try:
            obstore.put(self.store, key, path)
        except BaseError as error:
            raise StorageError(f"Evidence storage rejected a file: {type(error).__name__}.") from error
        self.cache.keep(key, path)

    def local(self, key: str) -> Path:
        """Return the file at hand, fetching it when it is not. Raises ``StorageError`` where it does not answer."""
        import obstore
        from obstore.exceptions import BaseError

        path = self.cache.root / key
        if path.is_file():
            os.utime(path)
            return path
        spare_connections.give_back()
        with tempfile.NamedTemporaryFile(dir=self.scratch(), delete=False) as file:
            try:
                for chunk in obstore.get(self.store, key).stream(min_chunk_size=CHUNK):
                    file.write(chunk)
            except (BaseError, FileNotFoundError) as error:
                Path(file.name).unlink()
                raise StorageError(f"Evidence storage couldn't return {key}: {type(error).__name__}.") from error
        self.cache.keep(key, Path(file.name))
        return path

    def drop(self, key: str) -> None:
        """Remove it there and here. Raises ``StorageError`` where it does not answer."""
        import obstore
        from obstore.exceptions import BaseError, NotFoundError

        spare_connections.give_back()
        try:
            obstore.delete(self.store, key)
        except (NotFoundError, FileNotFoundError):
            pass
        except BaseError as error:
            raise StorageError(f"Evidence storage couldn't delete {key}: {type(error).__name__}.") from error
        self.cache.drop(key)


@lru_cache(maxsize=4)
def _store(where: str, data_dir: Path) -> Store:
    return Objects(where, cache=Folder(data_dir / "evidence-cache")) if "://" in where else Folder(Path(where))


def store() -> Store:
    """Return the storage that the settings name."""
    return _store(settings.FIREKIND.evidence_storage, settings.FIREKIND.data_dir)


def original_key(sha256: str) -> str:
    """Return where the original with this SHA-256 is kept."""
    return f"originals/{sha256[:2]}/{sha256}"


def thumbnail_key(tree: str) -> str:
    """Return where the small picture of a tree is kept."""
    return f"{tree}.png"
