"""The results of checking one vendor's setup, and how a command prints them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.management.base import CommandError, OutputWrapper

from workflows.ports import VendorError


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One result: fine, worth knowing (``is_note``), or to be fixed."""

    says: str
    is_fine: bool = True
    is_note: bool = False

    @property
    def word(self) -> str:
        """Return the word that its line starts with."""
        if not self.is_fine:
            return "fix"
        return "note" if self.is_note else "fine"

    @property
    def level(self) -> str:
        """How bad it is: *ok*, *warning* or *wrong*."""
        return {"fine": "ok", "note": "warning", "fix": "wrong"}[self.word]


def wrong(says: str) -> CheckResult:
    """Return a result that has to be fixed."""
    return CheckResult(says, is_fine=False)


def note(says: str) -> CheckResult:
    """Return a result that is worth knowing."""
    return CheckResult(says, is_note=True)


def unanswered(error: VendorError, about: str = "") -> CheckResult:
    """Return a result for a vendor that did not answer: to be fixed, unless it only limited the rate of requests."""
    says = f"{about}{error.says_once}"
    return note(f"Not checked: {says}") if error.code == "ratelimited" else wrong(says)


def printed(found: Iterable[CheckResult], out: OutputWrapper) -> None:
    """Print a sentence for each result as it arrives. Raises ``CommandError`` when something has to be fixed."""
    to_fix = 0
    for one in found:
        out.write(f"{one.word}  {one.says}")
        to_fix += not one.is_fine
    if to_fix:
        raise CommandError(f"{to_fix} to fix.")
