"""Files that people upload and that are not profiles, with words that help them. Pure."""

from __future__ import annotations

import re

from evidence.formats.base.json_text import outline
from evidence.formats.base.unpacking import archives

ANDROID = (
    "This is an Android method trace. Record with `simpleperf record -g`, and upload what `report_sample.py` prints."
)
SIMPLEPERF = "This is a report of simpleperf's. `report_sample.py --record_file perf.data` prints one we read."
JEMALLOC = (
    "This is jemalloc's heap dump. `jeprof --collapsed PROGRAM FILE` makes folded stacks; send them with `unit=bytes`."
)
VISUAL_STUDIO = "This is Visual Studio's table of functions, which has no stacks. Export speedscope from PerfView."
MASSIF = (
    "This is massif's log of a heap, which we don't read. Record with heaptrack and run `heaptrack_print -F OUT FILE`."
)
MEMRAY = "This is a memray recording. `memray transform csv FILE` makes a table we read."
LZ4 = b"\x04\x22\x4d\x18"
LZ4_PACKED = "This is compressed with LZ4, which we don't unpack. Upload what `lz4 -d FILE` makes, or use gzip or zstd."
V8_TICKS = "This is a log of V8's ticks. Record with `node --cpu-prof`, which writes a .cpuprofile."
# How the content begins -> what it is and what to do about it.
BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"PERFILE2", "This is a raw perf recording. Upload the output of `perf script -i FILE`, run on the same host."),
    (b"7z\xbc\xaf\x27\x1c", "This is a 7-Zip archive. Unpack it and upload the profiles one by one."),
    (b"Rar!", "This is a RAR archive. Unpack it and upload the profiles one by one."),
    (b"\x89PNG\r\n\x1a\n", "This is a PNG picture, not a profile. It can be stored but not searched."),
    (b"\xff\xd8\xff", "This is a JPEG picture, not a profile. It can be stored but not searched."),
    (b"GIF8", "This is a GIF picture, not a profile. It can be stored but not searched."),
    (b"%PDF", "This is a PDF document, not a profile."),
    (b"\x7fELF", "This is a program, not a profile."),
    (b"JAVA PROFILE", "This is a Java heap dump, not a profile. Record with JFR or async-profiler."),
    (b"go 1.", "This is a Go execution trace, not a profile. Use /debug/pprof/profile instead."),
    (b"PERFFILE", "This is a raw perf recording. Upload the output of `perf script -i FILE`, run on the same host."),
    (b"Nettrace", "This is a .NET trace. `dotnet-trace convert --format Speedscope FILE` makes one we read."),
    (b"memray\0", MEMRAY),
    (b"SIMPLEPERF", SIMPLEPERF),
    (b"sample:\n  ", SIMPLEPERF),
    (b"heap_v2/", JEMALLOC),
    (b"hdrb\n", "This is a GHC event log. `hs-speedscope FILE` makes a profile we read."),
    (b"*version\n", ANDROID),
    (b"SLOW", ANDROID),
    (b"v8-version,", V8_TICKS),
    (b"Statistical profiling result from ", V8_TICKS),
    (b"desc:", MASSIF),
    (b"digraph ", "This is a graph for Graphviz. Upload the profile that it was drawn from."),
    (b"PAR1", "This is a Parquet file, not a profile."),
    (b"SQLite format 3\0", "This is an SQLite database, not a profile."),
)
# A mark in the first lines -> what it is and the one command that produces something we read.
MARKS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        re.compile(rb"^ +flat +flat% +sum% +cum +cum% +calls +calls% \+ context", re.MULTILINE),
        "This is pprof's tree of callers, which has no whole stacks. `go tool pprof -raw FILE` prints them.",
    ),
    (
        re.compile(rb"\A# To display the perf\.data header|^# (Overhead|Children) {2}", re.MULTILINE),
        "This is perf's report, which has no stacks we read. Upload the output of `perf script -i FILE`.",
    ),
    (
        re.compile(rb"\AProcess \d+: [^\n]*\nPython v\d"),
        "This is one dump of py-spy. `py-spy record -f raw -o FILE --pid PID` makes folded stacks of many.",
    ),
    (
        re.compile(rb"^import time: self \[us\] \| cumulative \| imported package$", re.MULTILINE),
        "This is Python's list of import times. `py-spy record -f raw -o FILE -- python PROGRAM` makes folded stacks.",
    ),
    (
        re.compile(rb"\AFlat profile:|^ time   seconds   seconds    calls", re.MULTILINE),
        "This is a report of gprof, which has no stacks we read. `perf record -g` and `perf script` make some.",
    ),
    (
        re.compile(rb"\A\s*_     \._   __/__ .* Recorded: "),
        "This is the text that pyinstrument prints. `pyinstrument -r json` writes a profile we read.",
    ),
    (re.compile(rb"\AFunction Name,Total CPU \[", re.IGNORECASE), VISUAL_STUDIO),
    (
        re.compile(rb"^CPU\s+ID\s+FUNCTION:NAME$|^\s*[\w.+-]+`[\w.~<>:]+(\+0x[0-9a-f]+)?$", re.MULTILINE),
        "This is what dtrace prints. `stackcollapse.pl FILE` makes folded stacks.",
    ),
)
SVG = (
    "This is a picture (SVG). A flame graph cannot be read back from its drawing: bring the folded stacks that it "
    "was drawn from."
)
# xctrace's root elements: for samples, and for the table of contents.
XCTRACE, XCTRACE_TOC = b"<trace-query-result", b"<trace-toc"
TABLES = (
    "This is an Instruments trace's list of tables. "
    "`xctrace export --input FILE.trace --xpath '//table[@schema=\"time-profile\"]'` exports one we read."
)
WEB_PAGE = (
    "This is a web page, not a profile. If a profiler made it, upload the data that it was drawn from; if a URL "
    "returned it, the URL may have required a login."
)
# What perf script writes before its samples, and possibly all that it wrote.
PERF_HEADER = b"# captured on    : "
NO_SAMPLES = "This is perf's header with no samples below it. `perf script` may have failed: its errors say why."
UNKNOWN = (
    "This isn't a format we support (folded, perf script, pprof, OTLP, JFR, thread dumps and more). "
    "Export it as pprof or folded stacks, which most profilers can write."
)
UNKNOWN_JSON = (
    "This is JSON, but not a kind we support (speedscope, Chrome, V8, OTLP, Firefox Profiler, stackprof, pyinstrument, "
    "Scalene, GHC)."
)
CONTROLS = tuple(bytes([byte]) for byte in range(9))
# The keys of JSON that is not a profile -> what to do about it.
JSON_KEYS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("snapshot.meta",),
        "This is a heap snapshot of V8, which has no stacks. Record allocations with `node --heap-prof`.",
    ),
    (("code[].name", "code[].type"), "This is `node --prof` output. Record with `node --cpu-prof` instead."),
    (("linux-perf-json-version",), "This is perf's data as JSON. Upload the output of `perf script -i FILE` instead."),
    (
        ("dhatFileVersion",),
        "This is DHAT's profile of a heap, which we don't read. Record with heaptrack and run `heaptrack_print -F`.",
    ),
    (("top_locations_by_size",), "These are memray's statistics. `memray transform csv FILE` makes a table we read."),
)


def known(head: bytes) -> str:
    """Return what the content is, in words for its sender, if it is surely not a profile; else nothing."""
    if head.startswith(LZ4):  # memray compresses its recording when it ends
        return MEMRAY if b"memray\0" in head[:64] else LZ4_PACKED
    for beginning, says in BEGINNINGS:
        if head.startswith(beginning):
            return says
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "This is a WebP picture, not a profile. It can be stored but not searched."
    if kind(head) == "text" and (marked := next((says for mark, says in MARKS if mark.search(head[:4096])), "")):
        return marked
    if archives.kind(head):
        return "This is an archive in an archive. Unpack it and upload the profiles one by one."
    return _markup(head)


def says(head: bytes) -> str:
    """Return what to say about content that no reader recognised."""
    if kind(head) != "json":
        return known(head) or (NO_SAMPLES if _only_header(head) else UNKNOWN)
    found = outline.of(head)
    return next((says for keys, says in JSON_KEYS if found.has(*keys)), UNKNOWN_JSON)


def _only_header(head: bytes) -> bool:
    return PERF_HEADER in head and all(line.startswith(b"#") for line in head.split(b"\n") if line.strip())


def kind(head: bytes) -> str:
    """Distinguish binary, JSON, XML and other text. No text has control characters below a tab, except in UTF-16."""
    if any(map(head.__contains__, CONTROLS)):
        return "binary"
    begins = head[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if begins[:1] in (b"{", b"["):
        return "json"
    return "xml" if begins.startswith((b"<?xml", XCTRACE)) else "text"


def _markup(head: bytes) -> str:
    text = head[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<svg", b"<!doctype svg")) or (text.startswith(b"<?xml") and b"<svg" in head[:4096].lower()):
        return SVG
    if text.startswith((b"<!doctype html", b"<html", b"<head", b"<body")) or b"<html" in text.split(b";", 1)[0]:
        return WEB_PAGE
    if XCTRACE_TOC in head[:4096]:
        return TABLES
    return "This is XML, not a profile." if text.startswith(b"<?xml") and XCTRACE not in head[:4096] else ""
