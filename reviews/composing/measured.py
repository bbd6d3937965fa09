"""Evidence with its sentences, and hypotheses in the order they were added. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from incidents import event_kinds
from incidents.reading.catch_up import SaidEntry
from reviews.composing.passage import Passage, ReviewSentence, told, took
from reviews.composing.story import ReviewStory


def evidence(story: ReviewStory) -> tuple[Passage, ...]:
    """Show what was measured, what each measurement says, and for which hypotheses it counted."""
    return tuple(_measurement(one, story) for one in story.of("evidence"))


def _measurement(entry: SaidEntry, story: ReviewStory) -> Passage:
    says = str(entry.data.get("says", ""))
    first = told(entry, (f"added it: {says}" if entry.by else says) if says else "added it")
    n, pictured = int(entry.data["n"]), bool(entry.data.get("picture"))
    return Passage((first, *_cited(entry, n, story)), entry.text, evidence=n, pictured=pictured)


def _cited(entry: SaidEntry, n: int, story: ReviewStory) -> Iterator[ReviewSentence]:
    """Say once for each person and hypothesis what the measurement counted for, whatever the number of rounds."""
    rounds: dict[tuple[str, str, int], list[SaidEntry]] = {}
    for one in story.of("judged"):
        for side in ("for", "against"):
            if n in one.data.get(side, ()):
                rounds.setdefault((one.by, side, int(one.data["n"])), []).append(one)
    for (by, side, _), judged in rounds.items():
        words = f"counted it {side} “{judged[-1].data['claim']}”"
        yield ReviewSentence(words, (entry.n, *(one.n for one in judged)), judged[0].at, by)


def hypotheses(story: ReviewStory) -> tuple[Passage, ...]:
    """Tell each hypothesis from when it was added to its last verdict."""
    found: dict[int, list[SaidEntry]] = {}
    for one in story.of("claimed", "judged"):
        found.setdefault(int(one.data["n"]), []).append(one)
    return tuple(_hypothesis(rounds) for rounds in found.values())


def _hypothesis(entries: list[SaidEntry]) -> Passage:
    claimed = next((one for one in entries if one.kind == "claimed"), None)
    rounds = [one for one in entries if one.kind == "judged"]
    claim = str(rounds[-1].data["claim"]) if rounds else claimed.text if claimed else ""
    said = [told(claimed, "added the hypothesis")] if claimed else []
    said += [told(one, _judged(one)) for one in rounds[:-1]]
    said += [took(claimed, one, _judged(one)) for one in rounds[-1:]]
    return Passage(tuple(said), claim, verdict=str(rounds[-1].data["verdict"]) if rounds else "open")


def _judged(entry: SaidEntry) -> str:
    """Say a round without the hypothesis, which is its heading."""
    changed = entry.data["verdict"] != entry.data["was"]
    did = event_kinds.JUDGED.get(str(entry.data["verdict"]), "updated {}").format("it") if changed else "added to it"
    return f"{did}: {entry.text}" if entry.text else did
