"""Remove redacted words from what people wrote in a review, and leave all other words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from django.db.models import F

from incidents.audited.copies import STANDS
from incidents.models import Incident
from reviews.models import ReviewComment, ReviewSection, SectionText
from workflows.effects.forgetting import LOOSE

PIECE: Final = 12  # minimum length, in characters, for a line or sentence to be searched by itself
# People's text in an incident's review, for the search: the newest versions, after the timeline's entries.
NEWEST: Final = """
    SELECT 2147483647 AS n, written.text, 'review#' || part.key AS place, 'in the review' AS called
      FROM reviews_sectiontext written
      JOIN reviews_reviewsection part ON part.id = written.section_id AND part.version = written.version
      JOIN reviews_review review ON review.id = part.review_id
     WHERE review.incident_id = {incident}"""
_ENDS: Final = re.compile(r"(?<=[.!?:;])\s+|\n+")


def forget(incident: Incident, said: Sequence[str]) -> None:
    """Remove these words from every version of every section, and from comments.

    A section that contained them is counted as changed, so that a form opened before does not restore them unnoticed.
    """
    held = set()
    for one in SectionText.objects.filter(section__review__incident=incident):
        if (clean := without(one.text, said)) != one.text:
            SectionText.objects.filter(pk=one.pk).update(text=clean)
            held.add(one.section_id)
    ReviewSection.objects.filter(pk__in=held).update(forgot=F("forgot") + 1)
    for comment in ReviewComment.objects.filter(section__review__incident=incident):
        if (clean := without(comment.text, said)) != comment.text:
            ReviewComment.objects.filter(pk=comment.pk).update(text=clean)


def without(text: str, said: Iterable[str]) -> str:
    """Return a text without these words: as a whole, and by lines and sentences that are long enough.

    Whitespace may differ. Very short words are removed only if they are the whole text.
    """
    for words in sorted({piece for one in said for piece in _pieces(one)}, key=len, reverse=True):
        if len(words) < LOOSE:
            text = STANDS if " ".join(text.split()) == words else text
        else:
            pattern = r"\s+".join(map(re.escape, words.split()))
            text = re.sub(pattern, STANDS, text)
    return text


def _pieces(said: str) -> Iterator[str]:
    whole = " ".join(said.split())
    if whole:
        yield whole
    for piece in _ENDS.split(said):
        one = " ".join(piece.split())
        if len(one) >= PIECE:
            yield one
