"""The start of fuzzing: small profiles in every format, and everything that once broke a reader."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from evidence.formats import FORMATS

HOME = Path(__file__).resolve().parents[2] / "fixtures" / "fuzz"
FOUND = "found-"
PACKED, MEASURES = "packed", "measures"
# What a trial writes to its room: the input being read, and the results of earlier ones.
CURRENT = "current"
TOLD = "told.json"


def files(name: str) -> list[Path]:
    """Return the files in one format."""
    return sorted(path for path in (HOME / name).glob("*") if path.is_file())


def names() -> list[str]:
    """Return what is fuzzed: the formats, their unpackers, and the measurements that are not profiles."""
    return [*FORMATS, PACKED, MEASURES]


def seeds(name: str) -> list[bytes]:
    """Return the inputs to mutate: a format's corpus, unpacked, so that mutations reach its reader."""
    return [content(path) for path in files(name)]


def content(path: Path) -> bytes:
    """Return the content of a corpus file; only large ones are compressed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def keep(name: str, data: bytes) -> Path:
    """Keep an input that broke something, named by its content."""
    folder = HOME / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{FOUND}{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path
