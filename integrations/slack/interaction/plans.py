"""A plan as blocks: what cannot be undone first, then line by line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from integrations.slack.protocol import blocks
from integrations.slack.protocol.mrkdwn import clip, escape
from workflows.planning.plan import Plan, PlanLine

SHOWN: Final = 40
SIGNS: Final = {"+": "`+`", "~": "`~`", "-": "`-`", "!": "`!`", "=": "`=`"}


def shown(plan: Plan) -> list[blocks.Block]:
    """Render a plan: its notes, its lines, and in small print what is so already. Who is paged is never in that."""
    doing = [line for line in plan.lines if not line.is_quiet]
    already = [line for line in plan.lines if line.is_quiet]
    parts = [
        blocks.section(f"*{heading or 'Before you confirm'}*\n{_bullets(notes)}")
        for heading, notes in plan.noted.items()
    ]
    parts += [blocks.section(text) for text in gathered(doing[:SHOWN])]
    if len(doing) > SHOWN:
        parts.append(blocks.context(f"And {len(doing) - SHOWN} more."))
    if not doing:
        parts.append(blocks.section("Nothing else changes: nobody new is brought in."))
    if already:
        parts.append(blocks.context(clip("\n".join(escape(line.text) for line in already), blocks.SECTION)))
    return parts


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
