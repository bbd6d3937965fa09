"""Tasks and follow-ups: what was to be done, who owned it, and what became of it. Pure."""

from __future__ import annotations

from typing import Final

from incidents.reading.catch_up import SaidEntry
from reviews.composing.passage import Passage, told, took
from reviews.composing.story import ReviewStory

MADE: Final = ("task", "followup")
BECAME: Final = (
    "followup_given",
    "followup_due",
    "followup_done",
    "followup_dropped",
    "followup_reopened",
    "followup_tracked",
)


def followups(story: ReviewStory) -> tuple[Passage, ...]:
    """Tell each from when it was added, follow-ups first."""
    found: dict[int, list[SaidEntry]] = {}
    for one in story.of(*MADE, *BECAME):
        found.setdefault(int(one.data["followup"]), []).append(one)
    some = sorted(found.values(), key=lambda entries: entries[0].kind == "task")
    return tuple(map(_followup, some))


def _followup(entries: list[SaidEntry]) -> Passage:
    made = next((one for one in entries if one.kind in MADE), None)
    ended = [one for one in entries if one.kind == "followup_done"][-1:]
    first, text = entries[0].data, made.text if made else ""
    label = f"{str(first.get('word', 'task')).capitalize()} {first['followup']}{f': {text}' if text else ''}"
    return Passage(tuple(took(made, one) if one in ended else told(one) for one in entries), label)
