"""Evidence storage: whether a file can be written, read back and removed, and whether there is room."""

from __future__ import annotations

import errno
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from django.conf import settings

from evidence.intake import storage
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import State
from integrations.check_result import CheckResult, note, wrong

CONTENT: Final = b"written by manage.py doctor, and removed again\n"
NEWEST: Final = 3
LITTLE: Final = 2 << 30  # bytes
MENDS: Final = {
    errno.ENOSPC: "Make room on that disk",
    errno.EDQUOT: "Make room, or raise the quota of the user that Firekind runs as",
    errno.EROFS: "Mount it so that it can be written to",
    errno.ENOTDIR: "Name a folder",
}


def findings() -> Iterator[CheckResult]:
    """Yield whether a small file can be written and read back."""
    place = settings.FIREKIND.evidence_storage
    try:
        _try(storage.store())
    except (StorageError, OSError) as error:
        why = (error.strerror or "") if isinstance(error, OSError) else str(error).rstrip(".")
        yield wrong(
            f"Evidence storage at {place} cannot be used: {why or type(error).__name__}. {_mend(place, error)}, or set "
            "EVIDENCE_STORAGE_URL."
        )
        return
    yield CheckResult(f"Evidence storage at {place} can be written to and read.")
    free = shutil.disk_usage(storage.store().scratch()).free
    if free < LITTLE:
        yield note(f"Only {free >> 20} MiB are left on the disk for evidence. Make room, or move it to a larger one.")


def held() -> Iterator[CheckResult]:
    """Yield whether evidence is where it was stored: an unmounted disk leaves a folder that is empty and can be used.

    Someone may have deleted one file by hand, so it looks for several.
    """
    ready = Evidence.objects.filter(state=State.READY).exclude(original="").order_by("-pk")
    newest, store = list(ready.values_list("original", flat=True)[:NEWEST]), storage.store()
    with suppress(StorageError, OSError):  # said above
        if newest and not any(map(store.has, newest)):
            yield wrong(
                f"Evidence storage at {settings.FIREKIND.evidence_storage} lacks the newest evidence. Mount its disk, "
                "correct EVIDENCE_STORAGE_URL, or restore the files from the backup."
            )


def _mend(place: str, error: BaseException) -> str:
    """Return what to do about an error of the evidence storage."""
    if "://" in place:
        return "Check the bucket, AWS_ENDPOINT, AWS_REGION and the credentials"
    number = next((one.errno for one in (error, error.__cause__) if isinstance(one, OSError)), None)
    return MENDS.get(number or 0, "Give the user that Firekind runs as the right to write there")


def _try(store: storage.Store) -> None:
    key = f"doctor/{secrets.token_hex(8)}"
    with tempfile.NamedTemporaryFile(dir=store.scratch(), delete=False) as file:
        file.write(CONTENT)
    path = Path(file.name)
    try:
        _there_and_back(store, key, path)
    except (StorageError, OSError):
        with suppress(StorageError, OSError):  # the first error is the one to report
            store.drop(key)
        raise
    finally:
        path.unlink(missing_ok=True)
    store.drop(key)


def _there_and_back(store: storage.Store, key: str, path: Path) -> None:
    store.keep(key, path)
    if store.local(key).read_bytes() != CONTENT:
        raise StorageError("what was written there came back different.")
