"""Searches in a profile: text, or a regular expression between slashes. Pure."""

from __future__ import annotations

from collections.abc import Callable

MOST = 500
MEMORY = 8 << 20  # of one compiled expression


class BadPattern(ValueError):
    """The search is invalid; the message says why."""


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that matches names: ``/…/`` is a regular expression (RE2), other text a substring.

    Case matters only if the text contains capitals. Raises ``BadPattern``.
    """
    if not pattern:
        raise BadPattern("Enter part of a function name, or a /regular expression/.")
    if len(pattern) > MOST:
        raise BadPattern(f"A search can have at most {MOST} characters.")
    if len(pattern) > 1 and pattern[0] == pattern[-1] == "/":
        return regular(pattern[1:-1])
    if pattern == pattern.lower():
        return lambda name: pattern in name.lower()
    return lambda name: pattern in name


def regular(pattern: str, *, any_case: bool | None = None) -> Callable[[str], bool]:
    """Return a function that searches names for a regular expression, in linear time. Raises ``BadPattern``."""
    import re2  # three megabytes with the C++ library, in processes that mostly use no expression

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    options.case_sensitive = pattern != pattern.lower() if any_case is None else not any_case
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if error.args else "it can't be parsed"
        raise BadPattern(f"Invalid regular expression: {said}.") from None
    return lambda name: compiled.search(name) is not None
