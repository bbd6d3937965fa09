"""What a check has to say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """Whether it passed, what it said, why it was not done, where it was not, and what should be done before long."""

    passed: bool
    said: str = ""
    skipped: str = ""
    soon: str = ""
