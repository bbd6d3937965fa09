"""What fuzzing begins with: small profiles of every format, and all that once broke a reader."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from evidence.formats import FORMATS

HOME = Path(__file__).resolve().parents[2] / "fixtures" / "fuzz"
FOUND = "found-"
PACKED, MEASURES = "packed", "measures"
# What a trial writes to its room: the input that it reads, and what came of those before.
CURRENT = "current"
TOLD = "told.json"


def files(name: str) -> list[Path]:
    """Return the files of one format."""
    return sorted(path for path in (HOME / name).glob("*") if path.is_file())


def names() -> list[str]:
    """Return what is fuzzed: the formats, what unpacks them, and the measurements that are no profiles."""
    return [*FORMATS, PACKED, MEASURES]


def seeds(name: str) -> list[bytes]:
    """Return what to change: the corpus of a format, unpacked, so that changes reach its reader."""
    return [content(path) for path in files(name)]


def content(path: Path) -> bytes:
    """Return what a file of the corpus holds; only what must be small is packed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def keep(name: str, data: bytes) -> Path:
    """Keep an input that broke something, named by what it holds."""
    folder = HOME / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{FOUND}{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path
