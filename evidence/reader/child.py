"""Read a possibly hostile file in a separate process: bounded, without our secrets, killed when it takes too long."""

from __future__ import annotations

import json
import logging
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evidence.profile import errors
from evidence.profile.errors import TooMuch, Unreadable
from evidence.reader import isolated, reading

log = logging.getLogger(__name__)

TIMEOUT_S = 180.0


class ReaderKilled(Exception):
    """Something else killed the reader, for example because the machine ran out of memory; the file may be fine."""


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """The result of reading: ``plain`` is all of it, as stored with the evidence; the rest are its parts by name."""

    plain: Mapping[str, Any]

    @property
    def format(self) -> str:
        """The name of the format."""
        return str(self.plain["format"])

    @property
    def sample_types(self) -> Sequence[Mapping[str, Any]]:
        """Each sample type: ``name``, ``unit``, exact ``total``."""
        return list(self.plain["sample_types"])

    @property
    def functions(self) -> Sequence[Mapping[str, Any]]:
        """The top functions of the default sample type: ``name``, exact ``self`` and ``total``."""
        return list(self.plain["functions"])

    @property
    def about(self) -> Mapping[str, Any]:
        """The rest of the file's metadata."""
        return dict(self.plain["about"])


def read_apart(
    path: Path,
    *,
    tree: Path,
    thumbnail: Path | None = None,
    timeout_s: float = TIMEOUT_S,
    unit: str = "",
    subject: str = "",
    memory_mib: int = reading.MEMORY_MIB,
    cpu_s: int = reading.CPU_S,
) -> ReadOutcome:
    """Read a profile in a separate process, which stores its call tree at ``tree``, and a thumbnail if asked.

    ``subject`` is text that may name the process that matters. Another kind of measurement gives a summary and no tree.
    Raises ``Unreadable`` (``NotRecognised``, ``BadProfile``, ``TooMuch``) in words for the sender, ``OSError`` if the
    disk is full or the machine has no room for a reader, and ``ReaderKilled``; then no tree is stored.
    """
    with tempfile.TemporaryDirectory(prefix="reading-", dir=tree.parent) as room:
        answer = Path(room) / "summary.json"
        words = [str(path.resolve()), "--tree", str(tree.resolve()), "--summary", str(answer), "--unit", unit]
        words += ["--thumbnail", str(thumbnail.resolve())] if thumbnail else []
        words += ["--memory-mib", str(memory_mib), "--cpu-s", str(cpu_s)]
        asked = {"words": words, "env": {"HOME": room, "SUBJECT": subject}}
        try:
            ended = isolated.run(b"r", json.dumps(asked).encode(), room=Path(room), timeout_s=timeout_s)
        except isolated.Late:
            raise TooMuch(reading.MORE_TIME, where=f"{timeout_s:g} s") from None
        except isolated.Gone as error:
            raise _broken(isolated.Ended(1, str(error)), cpu_s=cpu_s) from error
        finally:
            tree.with_name(f"{tree.name}.part").unlink(missing_ok=True)
        if ended.code not in {0, reading.COULD_NOT}:
            raise _broken(ended, cpu_s=cpu_s)
        return _understood(json.loads(answer.read_text(encoding="utf-8")))


def _understood(answer: Mapping[str, Any]) -> ReadOutcome:
    if "error" not in answer:
        return ReadOutcome(answer)
    error = answer["error"]
    kind: type[Unreadable] = getattr(errors, error["kind"])
    raise kind(error["says"], where=error["where"])


def _broken(ended: isolated.Ended, *, cpu_s: int) -> Unreadable:
    """Say why a reader ended without an answer: its limits, or a bug of ours, which the log keeps.

    Raises ``OSError`` if the disk or the machine is to blame, and ``ReaderKilled``.
    """
    if ended.code in {-signal.SIGXCPU, -signal.SIGKILL} and "Traceback" not in ended.said:
        if ended.code == -signal.SIGKILL and ended.cpu_s < cpu_s:
            raise ReaderKilled
        return TooMuch(reading.MORE_TIME, where=f"{cpu_s} s of processor time")
    for one in isolated.OF_THE_MACHINE:
        if os.strerror(one) in ended.said:
            raise OSError(one, os.strerror(one))
    if "MemoryError" in ended.said or "bad_alloc" in ended.said:
        return TooMuch(reading.MORE_MEMORY)
    log.error("The reader ended with %s: %s", ended.code, ended.said)
    return Unreadable("Couldn't read this file: the reader failed on it. The file is stored as is.")
