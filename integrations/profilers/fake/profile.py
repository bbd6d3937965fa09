"""A small pprof profile that the stand-ins serve."""

from __future__ import annotations

STACKS = {"main;serve;price": 60, "main;serve;charge": 30, "main;idle": 10}


def pprof(stacks: dict[str, int] | None = None) -> bytes:
    """Encode folded stacks as a profile; by default the usual ones."""
    from evidence.exports import pprof_export
    from evidence.formats.folded import folded

    text = "".join(f"{stack} {count}\n" for stack, count in (STACKS if stacks is None else stacks).items())
    return pprof_export.pprof(folded.read(text.encode()))
