"""A plan as blocks: summed up in one line, what cannot be undone, then line by line, then what follows from it."""

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
SHOWN_BYTES: Final = 50_000  # of the 250,000 that a window may have, as they are sent: a letter takes up to twelve
SIGNS: Final = {"+": "`+`", "~": "`~`", "-": "`-`", "!": "`!`", "=": "`=`"}


def shown(plan: Plan) -> list[blocks.Block]:
    """Render a plan: its sum, what cannot be undone, its lines, and below them what follows and what is so already.

    The button that confirms is always in view, so that what cannot be undone stands above what may have to be scrolled.
    What is so already is in small print; who is paged never is.
    """
    return [*first(plan), *rest(plan)]


def first(plan: Plan) -> list[blocks.Block]:
    """Render what is read before all else: the sum of a plan, and what cannot be undone."""
    return [blocks.section(bold(plan.in_short)), *_noted(plan)[:1]]


def rest(plan: Plan) -> list[blocks.Block]:
    """Render the lines of a plan, what follows from them, and what is so already."""
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
    """Return as many lines as a window holds, in their order: rather warnings and whom it pages than any others."""
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
    """Write lines as mrkdwn, gathered into as few sections as hold them."""
    texts: list[str] = []
    for line in map(_line, lines):
        if texts and len(texts[-1]) + len(line) < blocks.SECTION:
            texts[-1] += f"\n{line}"
        else:
            texts.append(clip(line, blocks.SECTION))
    return texts
