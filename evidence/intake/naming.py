"""Compare what a file's name promises with what the file is. Pure: formats are recognised by content alone."""

from __future__ import annotations

from typing import Final

PACKED: Final = (".gz", ".zst", ".bz2", ".xz", ".lz4")
PICTURES: Final = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}
PPROF: Final = frozenset({"pprof", "legacy pprof", "pprof text", "gperftools cpu"})
FOLDED: Final = frozenset({"folded", "austin", "bpf stacks", "perf script"})
ANY_PROFILE: Final[frozenset[str]] = frozenset()  # an ending that many profilers use and no picture does
# The ending of a name -> what it promises, and the formats that keep the promise.
ENDINGS: Final[tuple[tuple[str, str, frozenset[str]], ...]] = (
    (".speedscope.json", "speedscope", frozenset({"speedscope"})),
    (".cpuprofile", "V8", frozenset({"v8"})),
    (".heapprofile", "V8", frozenset({"v8"})),
    (".pprof", "pprof", PPROF),
    (".pb", "pprof", PPROF | {"otlp"}),
    (".jfr", "JFR", frozenset({"jfr"})),
    (".folded", "folded stacks", FOLDED),
    (".collapsed", "folded stacks", FOLDED),
    (".prof", "a profile", ANY_PROFILE),
    (".png", "PNG", frozenset({"image/png"})),
    (".jpg", "JPEG", frozenset({"image/jpeg"})),
    (".jpeg", "JPEG", frozenset({"image/jpeg"})),
    (".gif", "GIF", frozenset({"image/gif"})),
    (".webp", "WebP", frozenset({"image/webp"})),
)


def belied(file_name: str, *, found: str) -> str:
    """Say what a file of the format ``found`` is if its name says otherwise; empty if they agree."""
    name = file_name.casefold()
    for packed in PACKED:
        name = name.removesuffix(packed)
    promise = next(((says, kept) for ending, says, kept in ENDINGS if name.endswith(ending)), None)
    if promise is None or not found:
        return ""
    says, kept = promise
    picture = PICTURES.get(found, "")
    if found in kept or (kept is ANY_PROFILE and not picture):
        return ""
    what = f"a picture ({picture})" if picture else found
    return f"This is {what}, although its name says {says}."
