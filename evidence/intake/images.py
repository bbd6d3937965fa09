"""Pictures that people add: recognised by content, shown as they are, never decoded here. SVG is not accepted. Pure."""

from __future__ import annotations

from pathlib import Path

BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def kind_of(path: Path) -> str:
    """Return the media type of a picture that every browser shows; empty for anything else."""
    with path.open("rb") as file:
        head = file.read(12)
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in BEGINNINGS.items() if head.startswith(beginning)), "")
