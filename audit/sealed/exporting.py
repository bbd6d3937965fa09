"""Export the audit as JSON lines, with the hashes by which anyone can verify it elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from audit.models import Seal
from audit.sealed import chain, rows
from audit.sealed.rows import KEPT, Kept, SealedRow


def lines(*, since: datetime | None = None, words: bool = False) -> Iterator[str]:
    """Yield the sealed rows, followed by the seal that covers them, in the chain's order.

    ``since`` skips links made before then. Without ``words``, what people wrote on timelines is left out; the rows'
    hashes stay, so that the chain can still be verified.
    """
    seals = Seal.objects.order_by("n")
    for seal in (seals.filter(at__gte=since) if since else seals).iterator(chunk_size=100):
        for name in sorted(seal.covers):
            yield from _rows(KEPT[name], seal, words=words)
        yield _line({"seal": seal.said() | {"marks": None}, "hash": seal.hash})


def _rows(kept: Kept, seal: Seal, *, words: bool) -> Iterator[str]:
    marked = list(seal.marked(kept.name))
    found = rows.of_ids(kept, [id for id, _ in marked])
    for id, mark in marked:
        yield _line((_shown(kept, found[id], words=words) if id in found else {"row": {}}) | {"hash": mark.hex()})


def _shown(kept: Kept, row: SealedRow, *, words: bool) -> dict[str, Any]:
    """Return the exported form of a row: everything its hash covers, except words if they are left out."""
    if row.kept:
        return {"row": row.hashed, "left_out": list(kept.words)}
    left_out = [] if words else [name for name in kept.words if row.hashed.get(name)]
    shown = {name: value for name, value in row.hashed.items() if name not in left_out}
    said = {"words": row.words} if words and row.words else {}
    return {"row": shown} | said | ({"left_out": left_out} if left_out else {})


def _line(value: dict[str, Any]) -> str:
    plain = {name: json.loads(chain.written(one)) if isinstance(one, dict) else one for name, one in value.items()}
    return json.dumps(plain, ensure_ascii=False)
