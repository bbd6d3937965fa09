"""The layer of a frame, recognised from its name: by a table of profilers' names."""

from __future__ import annotations

import re

import pytest

from evidence.analysis import colours, layers
from evidence.profile.stacks import HINTS

TOLD = [
    ("do_syscall_64", "kernel", "", "kernel"),
    ("ext4_file_write_iter_[k]", "", "", "kernel"),
    ("swapper", "", "", "idle"),
    ("ThreadId(2)-gossip-0", "", "", "idle"),
    ("(idle)", "idle", "", "idle"),
    ("(program)", "native", "", "runtime"),  # V8 runs native code there
    ("(program)", "", "", "runtime"),
    ("(garbage collector)", "native", "", "runtime"),
    ("-", "", "", "boundary"),
    ("send_[g]", "", "", "gpu"),
    ("gemm_kernel_[G]", "", "", "gpu-source"),
    ("iroh::endpoint::connect", "", "rust", "rust"),
    ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "", "", "rust"),
    ("std::vector<Foo, std::allocator<Foo> >::push_back(Foo const&)", "", "", "cpp"),
    ("at::native::linear(at::Tensor const&)", "", "cpp", "cpp"),
    ("rocksdb::DBImpl::Get", "", "", "cpp"),
    ("engine::Scheduler::run", "", "", "cpp"),
    ("engine::Scheduler::run", "", "cpp", "cpp"),
    ("std::__detail::_Hash_node::next", "", "rust", "cpp"),
    ("engine::impl::step", "", "", "cpp"),
    ("core::Engine::run", "", "cpp", "cpp"),
    ("core::Engine::run(Job const&)", "", "", "cpp"),
    ("_Rb_tree_increment", "", "", "native"),
    ("<impl core::fmt::Debug for Node>::fmt", "", "", "rust"),
    ("<shop::thread::Thread>::new::thread_start", "", "", "rust"),
    ("shop::sort::quicksort::<u64, <u64 as shop::Ordered>::lt>", "", "", "rust"),
    ("core::ops::function::FnOnce::call_once", "", "", "rust"),
    ("net/http.(*conn).serve", "", "", "go"),
    ("github.com/jackc/pgx/v5/pgconn.(*PgConn).Exec", "", "", "go"),
    ("runtime.mallocgc", "", "", "runtime"),
    ("get_response (django/core/handlers/base.py:140)", "", "", "python"),
    ("py::forward", "", "", "python"),
    ("checkout.match_every_rule", "", "", "python"),
    ("peer.writeMessage", "", "go", "go"),
    ("main.hashOrders", "", "", "go"),
    ("_PyEval_EvalFrameDefault", "", "", "runtime"),
    ("java/util/HashMap.get", "", "", "java"),
    ("com.example.Checkout.price", "", "", "java"),
    ("render (node:internal/http:12:3)", "", "", "javascript"),
    ("handler (/app/src/cart.ts:10:5)", "", "", "javascript"),
    ("memcpy", "", "", "native"),
    ("0x7f3a12", "", "", "unknown"),
]


@pytest.mark.parametrize(("name", "hint", "mostly", "layer"), TOLD)
def test_the_layer_of_a_frame(name: str, hint: str, mostly: str, layer: str) -> None:
    assert layers.layer_of(name, hint, mostly=mostly) == layer


OF_ONE_LANGUAGE = [
    ("cprofile", "worker", "", "python"),
    ("pyinstrument", "Repo.load", "", "python"),
    ("memray", "Repo.load.<locals>.<lambda>", "", "python"),
    ("cprofile", "<built-in method time.sleep>", "", "unknown"),
    ("cprofile", "{method 'join' of 'str' objects}", "", "unknown"),
    ("v8", "compileForInternalLoader", "", "javascript"),
    ("v8", "exports.runMain", "", "javascript"),
    ("v8", "Module._compile", "", "javascript"),
    ("v8", "(program)", "native", "runtime"),
    ("folded", "worker", "", "native"),
]


@pytest.mark.parametrize(("format", "name", "hint", "layer"), OF_ONE_LANGUAGE)
def test_a_profiler_of_one_language_names_functions_of_it(format: str, name: str, hint: str, layer: str) -> None:
    language = layers.mostly([name], format=format)
    assert layers.layer_of(name, hint, mostly=language) == layer


@pytest.mark.parametrize("hint", HINTS)
def test_the_quick_look_for_the_kernel_says_what_the_layer_does(hint: str) -> None:
    ends = ("", "_[k]", "_[w]", "_[i]", "_[j]", "_[g]", "]")
    names = [name + end for name in ("swapper", "-", "--", "vfs_read", "main.run", "[idle", "") for end in ends]
    found = {name for name in names if layers.is_kernel(name, hint)}
    assert found == {name for name in names if layers.layer_of(name, hint) == "kernel"}


@pytest.mark.parametrize(
    ("names", "language"),
    [
        (["engine::run", "std::__invoke_impl", "engine::Task::step"], "cpp"),
        (["engine::run", "engine::(anonymous namespace)::step"], "cpp"),
        (["engine::run", "tokio::runtime::park"], "rust"),
        (["ThreadId(2)-gossip-0", "iroh::endpoint::connect"], "rust"),
        (["core::Engine::run(int)", "core::impl::step(int)", "core::wait"], "cpp"),
        (["engine::run"], ""),
    ],
)
def test_what_a_profile_is_mostly_written_in(names: list[str], language: str) -> None:
    assert layers.mostly(names) == language
    layer = {layers.layer_of(name, mostly=language) for name in names if "engine" in name}
    assert layer <= {language or "cpp"}


PACKAGES = [
    ("iroh::endpoint::connect", "rust", "iroh"),
    ("net/http.(*conn).serve", "go", "net/http"),
    ("github.com/jackc/pgx/v5/pgconn.(*PgConn).Exec", "go", "github.com/jackc/pgx/v5/pgconn"),
    ("java/util/HashMap.get", "java", "java.util"),
    ("checkout.match_every_rule", "python", "checkout"),
    ("get_response (django/core/handlers/base.py:140)", "python", "base.py"),
]


@pytest.mark.parametrize(("name", "layer", "package"), PACKAGES)
def test_the_package_of_a_frame(name: str, layer: str, package: str) -> None:
    assert layers.package_of(name, layer) == package


def luminance(colour: str) -> float:
    parts = [int(part, 16) / 255 for part in re.findall("..", colour.removeprefix("#"))]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("layer", layers.LAYERS, ids=lambda layer: layer.key)
def test_names_can_be_read_on_every_colour(layer: layers.Layer, scheme: int) -> None:
    for shade in layer.shades:
        assert contrast(shade[scheme], colours.INK[scheme]) >= 4.5
