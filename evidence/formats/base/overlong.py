"""Names that are longer than we keep: cut, and still told apart. Pure."""

from __future__ import annotations

from hashlib import blake2b

DIGEST_BYTES = 4


def cut(name: str, *, most: int) -> str:
    """Return a name of at most ``most`` characters; of a longer one its beginning and a mark of the whole.

    Templates and generics of one library begin alike for thousands of letters and still are different functions.
    """
    if len(name) <= most:
        return name
    mark = "…" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return name[: max(most - len(mark), 0)] + mark[-most:]
