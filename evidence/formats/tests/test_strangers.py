from pathlib import Path

import pytest

from evidence import formats
from evidence.formats.tests.packing import archive
from evidence.profile.errors import NotRecognised


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<!DOCTYPE html><html><title>Sign in</title>", "web page"),
        (b"\n<html lang=en>", "web page"),
        (b'<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg">', "SVG"),
        (b"<svg width=1>", "SVG"),
        (b"\x89PNG\r\n\x1a\n\0\0", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "WebP"),
        (b'{"dhatFileVersion":2\n,"mode":"heap"', "DHAT"),
        (b"desc: --massif-out-file=m\ncmd: ./shop\ntime_unit: i\n", "massif's log.*Record with heaptrack"),
        (b"PERFILE2\0\0", "perf script"),
        (b"\x7fELF\2\1", "program"),
        (b'{"hello": "world"}', "JSON"),
        (b"\0\1\2\3\4\5\6\7" * 40, "a format we support"),
        (b"Dear all,\nplease find attached nothing at all.\n", "a format we support"),
        (archive("zip", b"hello"), "archive without a profile"),
        (archive("tar", b"hello"), "archive without a profile"),
        (archive("zip"), "archive without a profile"),
        (archive("tar", archive("zip", b"a;b 1\n")), "archive without a profile"),
    ],
)
def test_what_is_no_profile_is_named_for_what_it_is(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "profile.folded"
    path.write_bytes(content)
    with pytest.raises(NotRecognised, match=words):
        formats.read_file(path)
