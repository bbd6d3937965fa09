"""A box too narrow for a whole name shows its most telling part, and never another function's name."""

from __future__ import annotations

import pytest

from evidence.analysis import layers
from evidence.drawing import short_names

SHORT = [
    ("crypto/ecdh.(*nistCurve).ecdh", "ecdh.(*nistCurve).ecdh"),
    (
        "crypto/internal/fips140/ecdh.ECDH[go.shape.*crypto/internal/fips140/nistec.P256Point]",
        "ecdh.ECDH[go.shape.*crypto/internal/fips140/nistec.P256Point]",
    ),
    ("github.com/shop/set.(*Set[go.shape.string]).Add", "set.(*Set[go.shape.string]).Add"),
    ("get_response (django/core/handlers/base.py:140)", "get_response (django/core/handlers/base.py:140)"),
    ("JS:*order file:///srv/shop.mjs:7:21", "JS:*order file:///srv/shop.mjs:7:21"),
    ("iroh::net::endpoint::connect", "endpoint::connect"),
    (
        "core::slice::sort::stable::quicksort::quicksort::<u64, <u64 as core::cmp::PartialOrd>::lt>",
        "quicksort::<u64, <u64 as core::cmp::PartialOrd>::lt>",
    ),
    ("<std::sys::thread::unix::Thread>::new::thread_start", "new::thread_start"),
    ("<main::gossip::Peer<u32> as main::gossip::Node>::step", "<main::gossip::Peer<u32> as main::gossip::Node>::step"),
    ("std::vector<Foo, std::allocator<Foo> >::push_back", "vector<Foo, std::allocator<Foo> >::push_back"),
    ("shop::Cart::operator()(std::string const&)", "Cart::operator()(std::string const&)"),
    ("shop::(anonymous namespace)::hash_name", "(anonymous namespace)::hash_name"),
    ("java/util/HashMap.get", "HashMap.get"),
    ("vfs_read_[k]", "vfs_read_[k]"),
    ("[libc.so.6]", "[libc.so.6]"),
    ("::global", "::global"),
    ("", ""),
]


@pytest.mark.parametrize(("name", "short"), SHORT)
def test_a_short_name_begins_with_the_functions_own(name: str, short: str) -> None:
    assert short_names.short(name) == short


def test_generic_functions_of_go_are_gos_and_of_their_own_package() -> None:
    for name in (SHORT[1][0], SHORT[2][0]):
        assert layers.layer_of(name) == "go"
        assert layers.package_of(name, "go") == name.split(".ECDH", maxsplit=1)[0].split(".(", maxsplit=1)[0]
