"""The verdict of a check."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """Whether it passed, its output, why it was not run if so, and what should be done before long."""

    passed: bool
    said: str = ""
    skipped: str = ""
    soon: str = ""
