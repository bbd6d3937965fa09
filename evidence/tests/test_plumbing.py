"""A language's own libraries are how a program costs; the sentence names them only if the program has no functions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidence.analysis import compare, dominant, sentence
from evidence.formats.chrome import v8
from evidence.formats.folded import folded
from evidence.formats.graphs import cprofile
from evidence.formats.python import pyinstrument
from evidence.formats.ruby import stackprof
from evidence.formats.tests import placed_writers
from evidence.formats.tests.placed_writers import Placed
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

# How functions of Go's standard library are called in its own profiles, and by perf.
OF_GO = [
    "crypto/internal/fips140/nistec.p256PointDoubleAsm",
    "crypto/internal/fips140/ecdh.ECDH[go.shape.*crypto/internal/fips140/nistec.P256Point]",
    "vendor/golang.org/x/crypto/chacha20poly1305.(*chacha20poly1305).Seal",
    "database/sql.(*DB).queryDC.func1",
    "html/template.(*Template).Execute",
    "internal/runtime/maps.(*Map).getWithKeySmall",
    "log.(*Logger).output",
    "log/slog.(*Logger).Info",
    "os.(*File).Write",
    "path/filepath.Walk",
    "slices.pdqsortOrdered[go.shape.int]",
    "unicode/utf8.DecodeRune",
]
OF_SHOP = [
    "main.(*Peer).connect",
    "shop.example/gossip.runGossip",
    "github.com/shop/log.(*Logger).output",
    "shop/internal/price.Sum[go.shape.int]",
    "golang.org/x/net/http2.(*Framer).ReadFrame",
    "image.resize",  # of Python or JavaScript
    "os.environ_copy",
]


def tree_of(stack: list[str]) -> CallTree:
    return calltree.build(folded.read(f"{';'.join(stack)} 80\nmain.main;main.other 20\n".encode()))


@pytest.mark.parametrize("name", OF_GO)
def test_the_standard_library_of_go_is_not_what_a_program_can_change(name: str) -> None:
    said = sentence.of(tree_of(["main.main", "main.(*Peer).connect", name]))
    assert (said.function, said.self_share) == ("main.(*Peer).connect", 0)
    assert f"80 % end in `{name}`" in said.text
    assert name not in {one["name"] for one in dominant.hot(tree_of(["main.main", "main.(*Peer).connect", name]))}


def test_no_profile_is_found_again_by_what_every_program_has() -> None:
    stack = ["main.main", "main.main.func1", "main.main.gowrap2", "main.run", "main.runGossip", "main.(*Peer).connect"]
    hot = dominant.hot(tree_of(stack))
    assert [one["name"] for one in hot] == ["main.(*Peer).connect", "main.runGossip", "main.other"]


@pytest.mark.parametrize("name", OF_SHOP)
def test_what_a_program_brings_is_named(name: str) -> None:
    assert sentence.of(tree_of(["main.main", "crypto/internal/fips140/nistec.p256Add", name])).function == name


# Other languages: what comes with them, and what is built on them.
OF_OTHERS = [
    ("py::iterencode:/usr/lib/python3.12/json/encoder.py", "py::render:/srv/shop/lib/pages.py"),
    ("py::_find_and_load:<frozen importlib._bootstrap>", "py::get:/usr/lib/python3/dist-packages/shop/get.py"),
    ("JS:processChunkSync node:zlib:393:26", "JS:order file:///srv/shop.mjs:7:21"),
    ("System.Private.CoreLib.il!System.Threading.Monitor.Wait(class)", "Shop!Shop.Cart.Price(int32)"),
    ("php::preg_match", "Shop\\Cart->price"),
]


@pytest.mark.parametrize(("library", "function"), OF_OTHERS)
def test_what_comes_with_a_language_is_told_by_its_name(library: str, function: str) -> None:
    assert sentence.of(tree_of(["start", "serve", function, library])).function == function


@pytest.mark.parametrize(
    ("library", "is_passed"),
    [
        ("/usr/lib/ruby/3.2.0/net/http.rb", True),
        ("<internal:kernel>", True),
        ("/var/lib/gems/3.2.0/gems/shop-1.0/lib/cart.rb", False),
        ("/usr/lib/ruby/gems/3.2.0/gems/shop-1.0/lib/cart.rb", False),
    ],
)
def test_what_comes_with_ruby_is_told_by_its_file(library: str, is_passed: bool) -> None:
    stack = [Placed("Shop#run", "/srv/run.rb", 1), Placed("Shop#price", "/srv/cart.rb", 3), Placed("get", library, 8)]
    samples = [(stack, 80), (stack[:1], 20)]
    said = sentence.of(calltree.build(stackprof.read(placed_writers.stackprof(samples))))
    assert said.function == ("Shop#price" if is_passed else "get")


OF_PYTHON = [
    Placed("_iterencode", "/usr/lib/python3.11/json/encoder.py", 414),
    Placed("deepcopy", r"C:\Python313\Lib\copy.py", 128),
    Placed("_find_and_load", "<frozen importlib._bootstrap>", 1165),
    Placed("<built-in method time.sleep>", "", 0),
    Placed("{method 'join' of 'str' objects}", "", 0),
]
OF_NODE = [Placed("pbkdf2Sync", "node:internal/crypto/pbkdf2", 62), Placed("readSync", "node:fs", 714)]
HANDLERS = [
    Placed("sign", "/srv/shop/cart.py", 8),
    Placed("sign", "/usr/lib/python3/dist-packages/shop/cart.py", 8),
    Placed("sign", "/srv/v/lib/python3.11/site-packages/shop/cart.py", 8),
    Placed("sign", "/srv/shop/lib/node/cart.mjs", 8),
]


def test_pyinstrument_says_more_of_a_file_than_it_shows() -> None:
    def frame(name: str, time: float, file: str, *children: object) -> dict[str, object]:
        short = file.removeprefix("/usr/lib/python3.11/")
        return {
            "function": name, "file_path_short": short, "file_path": file, "line_no": 1, "time": time,
            "children": children,
        }  # fmt: skip

    library = frame("encode", 0.8, "/usr/lib/python3.11/json/encoder.py")
    main = frame("run", 1.0, "shop.py", frame("render", 0.8, "shop.py", library))
    data = {"start_time": 1.0, "duration": 1.0, "sample_count": 3, "cpu_time": 0.1, "root_frame": main}
    assert sentence.of(calltree.build(pyinstrument.read(json.dumps(data).encode()))).function == "render"


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda one: one.file)
@pytest.mark.parametrize("library", OF_PYTHON + OF_NODE, ids=lambda one: one.name)
def test_what_a_file_of_the_language_holds_is_passed_where_only_files_say_so(
    handler: Placed, library: Placed, tmp_path: Path
) -> None:
    main = Placed("run", "/srv/shop/main.py", 1)
    samples = [([main, handler, library], 80), ([main], 20)]
    read = v8.read if library in OF_NODE else cprofile.read
    write = placed_writers.v8 if library in OF_NODE else placed_writers.cprofile
    tree = calltree.build(read(write(samples)))
    tree.save(tmp_path / "tree")
    for one in (tree, CallTree.open(tmp_path / "tree")):
        assert sentence.of(one).function == "sign"


def test_a_comparison_names_what_somebody_can_change_too() -> None:
    run, sign, other = (Placed(name, "/srv/shop/cart.py", 8) for name in ("run", "sign", "other"))
    sleep = Placed("readSync", "node:fs", 714)
    sides = [[([run, sign, sleep], 80), ([run, other], 20)], [([run, sign, sleep], 5), ([run, other], 95)]]
    trees = [calltree.build(v8.read(placed_writers.v8(side))) for side in sides]
    merged = compare.merge(trees, types=[tree.default_type for tree in trees], labels=["before", "after"])
    assert "`sign` 80.0 % → 5.00 %" in compare.says(merged)
