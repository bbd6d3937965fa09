"""How requests were answered while two versions served, from the web processes' logs. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from stack.chaos.acting import UNANSWERED, ActOutcome
from stack.chaos.judging.invariants import Violation

ANSWER: Final = re.compile(r'"([A-Z]+) (\S+) HTTP/[\d.]+" (\d{3})')
ERROR: Final = 500
AGAIN: Final = 503
# Vendors are asked to resend what cannot be done now; other laws check that nothing of it is lost.
ASKED_AGAIN: Final = ("/slack/events", "/pagerduty/webhook")
NO_ERROR: Final = "no request is answered with an error"
ANSWERED: Final = "every act is answered"


@dataclass(slots=True)
class WebAnswers:
    """Counts of responses by process and status, and each error."""

    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    errors: list[tuple[str, str]] = field(default_factory=list)

    def hear(self, process: str, line: str) -> None:
        """Take a line that a process wrote."""
        found = ANSWER.search(line) if process.endswith("web") else None
        if found is None:
            return
        status = int(found[3])
        self.counts[process, status] += 1
        if status >= ERROR and not (status == AGAIN and found[2].startswith(ASKED_AGAIN)):
            self.errors.append((process, f"{found[1]} {found[2]} was answered {status}"))

    def of(self, process: str) -> int:
        """Count what a process answered."""
        return sum(n for (name, _), n in self.counts.items() if name == process)


def violations(heard: WebAnswers, outcomes: Sequence[ActOutcome]) -> Iterator[Violation]:
    """Yield requests that got an error, or no response at all."""
    for process, says in heard.errors:
        yield Violation(NO_ERROR, "", f"{process}: {says}", (says.split(" was ")[0],))
    for one in outcomes:
        if one.said == UNANSWERED:
            says = f"{one.act.who}'s {one.act.kind} was not answered: {one.words}"
            yield Violation(ANSWERED, one.codename, says, (one.act.word,))
