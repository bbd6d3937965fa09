"""What a check has to say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """Whether it passed, what it said, and why it was not done, where it was not."""

    passed: bool
    said: str = ""
    skipped: str = ""
