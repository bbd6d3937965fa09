"""Rust symbols as compilers write them since 1.95, and perf's names for them, which demangles them itself."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.formats.base import rust_v0, symbols

CRATE = "Cs32gj3y4fnmh_4main"
NAMED = [
    (f"_RNvNt{CRATE}6gossip9handshake", "main::gossip::handshake"),
    (f"__RNvNt{CRATE}6gossip9handshake", "main::gossip::handshake"),  # of macOS
    (f"_RNvNt{CRATE}6gossip9handshake.llvm.1234", "main::gossip::handshake"),
    (
        "_RNvXNtCs32gj3y4fnmh_4main6gossipINtB2_4PeermENtB2_4Node4stepB4_",
        "<main::gossip::Peer<u32> as main::gossip::Node>::step",
    ),
    (
        (
            "_RINvNtNtNtNtCsgEmfK2I1SDS_4core5slice4sort6stable9quicksort9quicksortyNvYyNtNtBa_3cmp10PartialOrd2lt"
            f"E{CRATE}"
        ),
        "core::slice::sort::stable::quicksort::quicksort::<u64, <u64 as core::cmp::PartialOrd>::lt>",
    ),
    (
        "_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace28___rust_begin_short_backtraceNCNCNvCs32gj3y4fnmh_4main4main00jEB1d_",
        "std::sys::backtrace::__rust_begin_short_backtrace::<main::main::{closure#0}::{closure#0}, usize>",
    ),
    (
        "_RNvNvMs0_NtNtNtCsjrHSEGnQ3l9_3std3sys6thread4unixNtB7_6Thread3new12thread_start",
        "<std::sys::thread::unix::Thread>::new::thread_start",
    ),
    ("_RINvC1a1fKj10_Klna_E", "a::f::<16, -10>"),
    ("_RINvC1a1fRShQeTEThEAtj4_E", "a::f::<&[u8], &mut str, (), (u8,), [u16: 4]>"),  # `;` separates frames
    ("_RINvC1a1fPhOlDG_INtC1a2FnL0_EEL_E", "a::f::<*const u8, *mut i32, dyn for<'a> a::Fn<'a>>"),
    ("_RINvC1a1fDINtC1a1ThEp4ItemhEL_E", "a::f::<dyn a::T<u8, Item = u8>>"),
    ("_RINvC1a1fFG_UKCRL0_hEuFllEzE", """a::f::<for<'a> unsafe extern "C" fn(&'a u8), fn(i32, i32) -> !>"""),
    ("_RNvC1au8gdel_5qa", "a::gödel"),
]  # fmt: skip


def swelling() -> str:
    """A symbol that grows ninefold with every type that refers to the previous one."""
    digits = string.digits + string.ascii_letters
    text, at = "INvC1a1fThhhE", 8
    for _ in range(40):
        high, low = divmod(at - 1, 62)
        back, at = f"B{digits[high] if high else ''}{digits[low]}_", len(text)
        text += f"T{back * 9}E"
    return f"_R{text}E"


# From other compilers, truncated, or designed to take long.
OTHERS = [
    "_R", "_RN", "_Read", "_RESERVED", "_ReadFile", "_RNvC1a", "_RNvC1a99b", "_RNvC1a1b5", "_RB_", "_RNvB_1a",
    "_RNvC1a" + "N" * 50_000, "_RINvC1a1f" + "S" * 50_000 + "hE", swelling(),
]  # fmt: skip


@pytest.mark.parametrize(("symbol", "name"), NAMED)
def test_a_symbol_is_read_as_perf_reads_it(symbol: str, name: str) -> None:
    assert symbols.tidy(symbol) == name


@pytest.mark.parametrize("symbol", OTHERS)
def test_what_is_no_symbol_of_rust_stays_as_it_is(symbol: str) -> None:
    assert rust_v0.demangled(symbol) == symbol


@given(st.text("_RNvINtCs0123abBEKThSLpGMXYjn.", max_size=60))
def test_any_text_is_read_or_stays_as_it_is(text: str) -> None:
    assert rust_v0.demangled(f"_RN{text}")
