"""A small clean process from which readers are forked, which saves starting an interpreter and numpy each time.

``python -m evidence.reader.fork_server`` takes jobs from the socket on its stdin: one byte that names the job, and with
it the job's input, its error output, and a line that both ends hold. Each job is a fork that bounds itself; this
process opens no file. A job is killed when its line is closed. The process ends when no one holds the other end any
more, when nothing was requested for a while, and when a job was killed by a signal: whatever crashed one reader gets no
other with the same memory layout.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable
from typing import Final, NoReturn

from evidence.reader import forking

IDLE_S: Final = 60
# What reading and drawing need, in addition to every format and measure.
LOADED: Final = (
    "PIL.BmpImagePlugin",  # imported when the first picture is saved
    "PIL.GifImagePlugin",
    "PIL.ImageDraw",
    "PIL.ImageFont",
    "PIL.JpegImagePlugin",
    "PIL.PngImagePlugin",
    "PIL.PpmImagePlugin",
    "concurrent.futures.thread",
    "evidence.analysis.sentence",
    "evidence.drawing.draw_picture",
    "evidence.drawing.flamegraph",
    "evidence.drawing.thumbnail",
    "evidence.exports.exports",
    "evidence.reader.making",
    "evidence.reader.reading",
    "evidence.tree.calltree",
    "numpy.ma",
    "tarfile",
    "zipfile",
)
# Arrow starts a thread when it is imported, and forking with two threads may hang, so jobs import it themselves.
LATER: Final = frozenset({"tests", "blocks"})


def read() -> int:
    """Read the file on stdin, as ``evidence.reader.reading`` does."""
    from evidence.reader import reading

    asked = json.load(sys.stdin)
    os.environ.update(asked["env"])
    return reading.main(asked["words"])


def draw() -> int:
    """Draw the tree that stdin names, as ``evidence.drawing.draw_picture`` does."""
    from evidence.drawing import draw_picture

    return draw_picture.main()


def make() -> int:
    """Make from a tree what stdin names, as ``evidence.reader.making`` does."""
    from evidence.reader import making

    return making.main()


WORK: Final[dict[bytes, Callable[[], int]]] = {b"r": read, b"d": draw, b"m": make}


def main() -> int:
    """Import what readers need, report readiness, and fork them."""
    _load()
    gc.freeze()
    asked = forking.serve(idle_s=IDLE_S, until_killed=True)
    if asked:
        _work(asked)
    return 0


def _load() -> None:
    from evidence import formats, measures
    from evidence.drawing import picture

    for name in LOADED:
        importlib.import_module(name)
    for package in (formats, measures):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not LATER & set(found.name.split(".")):
                importlib.import_module(found.name)
    for size in picture.SIZES:
        picture.font(size)


def _work(asked: forking.ForkRequest) -> NoReturn:
    """Do one job in this fork, holding none of the others' files, and exit."""
    ended = 1
    try:
        given, said = asked.files
        os.dup2(given, 0)
        os.dup2(said, 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        ended = WORK[asked.work]()
    except MemoryError:
        os.write(2, b"MemoryError")
    except OSError as error:
        ended = forking.FAILED + (error.errno or 0)
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    except BaseException:  # noqa: BLE001 (nothing of it may come back into the process that forks)
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(ended)


if __name__ == "__main__":
    sys.exit(main())
