"""Names longer than we store: truncated, but still distinct. Pure."""

from __future__ import annotations

from hashlib import blake2b

DIGEST_BYTES = 4


def cut(name: str, *, most: int) -> str:
    """Return a name of at most ``most`` characters; a longer one keeps its beginning and a hash of the whole.

    Templates and generics of one library share the first thousands of letters and still are different functions.
    """
    if len(name) <= most:
        return name
    mark = "…" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return name[: max(most - len(mark), 0)] + mark[-most:]
