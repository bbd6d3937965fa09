"""A plan as blocks: a one-line summary, what cannot be undone, the lines, and the consequences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from incidents.sentences import capital
from integrations.slack.protocol import blocks
from integrations.slack.protocol.mrkdwn import bold, clip, escape
from workflows.planning.plan import Plan
from workflows.planning.plan_lines import PlanLine

SHOWN: Final = 40
SHOWN_BYTES: Final = 50_000  # of the 250,000 bytes that a modal may have when sent: one letter can take twelve
SIGNS: Final = {"+": "`+`", "~": "`~`", "-": "`-`", "!": "`!`", "=": "`=`"}


def shown(plan: Plan) -> list[blocks.Block]:
    """Render a plan: its summary, what cannot be undone, its lines, then the consequences and what already exists.

    The confirm button is always visible, so what cannot be undone comes before anything that may need scrolling. What
    already exists is in small print, except who is paged.
    """
    return [*first(plan), *rest(plan)]


def first(plan: Plan) -> list[blocks.Block]:
    """Render what comes first: the summary of a plan, and what cannot be undone."""
    return [blocks.section(bold(plan.in_short)), *_noted(plan)[:1]]


def rest(plan: Plan) -> list[blocks.Block]:
    """Render the lines of a plan, its consequences, and what already exists."""
    doing = [line for line in plan.lines if not line.is_quiet]
    lines = _fitting(doing)
    already = [line for line in plan.lines if line.is_quiet]
    parts = [blocks.section(text) for text in gathered(lines)]
    if len(doing) > len(lines):
        parts.append(blocks.section(f"And {len(doing) - len(lines)} more."))
    parts += _noted(plan)[1:]
    if already:
        said = (escape(capital(line.text)) for line in already)
        parts.append(blocks.context(clip("\n".join(said), blocks.SECTION)))
    return parts


def _noted(plan: Plan) -> list[blocks.Block]:
    return [
        blocks.section(f"{bold(heading or 'Before you confirm')}\n{_bullets(notes)}")
        for heading, notes in plan.noted.items()
    ]


def _fitting(lines: Sequence[PlanLine]) -> list[PlanLine]:
    """Return as many lines as a modal can hold, in order, preferring warnings and people who are paged."""
    by_weight = sorted(enumerate(lines), key=lambda numbered: not _weighs(numbered[1]))[:SHOWN]
    ends = accumulate(len(json.dumps(line.text)) for _, line in by_weight)
    fitting = {n for (n, _), end in zip(by_weight, ends, strict=True) if end <= SHOWN_BYTES}
    return [line for n, line in enumerate(lines) if n in fitting]


def _weighs(line: PlanLine) -> bool:
    return line.sign == "!" or line.key.startswith("page")


def _line(line: PlanLine) -> str:
    return f"{SIGNS[line.sign]}  {escape(line.text)}"


def _bullets(notes: Iterable[str]) -> str:
    return "\n".join(f"•  {escape(note)}" for note in notes)


def gathered(lines: Iterable[PlanLine]) -> list[str]:
    """Write lines as mrkdwn, grouped into as few sections as possible."""
    texts: list[str] = []
    for line in map(_line, lines):
        if texts and len(texts[-1]) + len(line) < blocks.SECTION:
            texts[-1] += f"\n{line}"
        else:
            texts.append(clip(line, blocks.SECTION))
    return texts
