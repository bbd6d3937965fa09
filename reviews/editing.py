"""What people do with a review. Each verb is one transaction under the incident's lock, and checks access itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from incidents import lifecycle, timeline
from incidents.audited import audit_notes
from incidents.indexing import word_index
from incidents.lifecycle import BadInput, Refused, rules
from incidents.models import Event, Incident, Person, Source
from reviews.composing.document import KEYS, SECTIONS
from reviews.models import Review, ReviewComment, ReviewSection, ReviewState, SectionText

FARTHEST = timedelta(days=3 * 366)


class NoSuchSection(Refused):
    """A review has no section of this name."""


class EditedMeanwhile(Refused):
    """Someone saved the section after it was opened; ``theirs`` is its text now, ``seen`` the state to send back."""

    def __init__(self, theirs: SectionText | None, seen: str) -> None:
        who = theirs.by.name if theirs is not None and theirs.by is not None else "Firekind"
        super().__init__(f"{who} changed this section while you were writing. Nothing is lost: both texts are here.")
        self.theirs = theirs
        self.seen = seen


def write(
    incident: Incident, *, section: str, text: str, seen: str, by: Person | None, at: datetime, below: bool = False
) -> SectionText | None:
    """Save someone's text in a section as a new version; nothing is saved if it is unchanged.

    ``seen`` is the state they started from; raises ``EditedMeanwhile`` if that is outdated. With ``below``, their text
    is appended to the current one instead. Raises ``BadInput`` and ``NoSuchSection``.
    """
    said = rules.text(text, needed=False)
    with rules.changing(incident, by=by) as now:
        one = _section(now, section, at=at)
        newest = SectionText.objects.filter(section=one, version=one.version).select_related("by").first()
        before = newest.text if newest is not None else ""
        if below:
            said = rules.text(f"{before}\n\n{said}", needed=False)
        elif seen != one.seen and said != before:
            raise EditedMeanwhile(newest, one.seen)
        if said == before:
            return newest
        one.version += 1
        one.save(update_fields=["version"])
        saved = SectionText.objects.create(section=one, version=one.version, text=said, by=by, at=at)
        word_index.add_words(now, said)
        _changed(one.review, by=by, at=at, about=now.codename, did="wrote", section=section)
    return saved


def write_again(incident: Incident, *, section: str, to: int, by: Person | None, at: datetime) -> None:
    """Compose a section again up to entry ``to``, as it was shown; people's text stays as it is."""
    with rules.changing(incident, by=by) as now:
        one = _section(now, section, at=at)
        one.read_to = max(one.read_to, min(to, now.last_n))
        one.save(update_fields=["read_to"])
        _changed(one.review, by=by, at=at, about=now.codename, did="wrote again", section=section)


def comment(
    incident: Incident, *, section: str, text: str, by: Person | None, at: datetime, after: int | None = None
) -> ReviewComment:
    """Comment on a section. Raises ``BadInput`` and ``NoSuchSection``.

    ``after`` is the last comment that the person saw there, 0 for none: the same text by the same person after it is
    the same form sent twice, and is added once.
    """
    said = rules.text(text, field="comment")
    with rules.changing(incident, by=by) as now:
        one = _section(now, section, at=at)
        mine = ReviewComment.objects.filter(section=one, by=by, text=said, pk__gt=after or 0)
        if after is not None and (sent := mine.order_by("pk").first()) is not None:
            return sent
        made = ReviewComment.objects.create(section=one, text=said, by=by, at=at)
        _changed(one.review, by=by, at=at, about=now.codename, did="commented", section=section)
    return made


def settle(incident: Incident, *, pk: int, by: Person | None, at: datetime) -> None:
    """Mark a comment as settled; refuses one that is settled already or belongs to another incident."""
    with rules.changing(incident, by=by) as now:
        mine = ReviewComment.objects.filter(pk=pk, section__review__incident=now, settled_at=None)
        if not mine.update(settled_at=at, settled_by=by):
            raise Refused("This comment is already settled.")


def plan_meeting(
    incident: Incident, *, on: datetime, by: Person | None, at: datetime, seen: str | None = None
) -> Review:
    """Plan when the review is discussed, with an entry on the timeline and in the audit. Raises ``BadInput``.

    ``seen`` is the review's ``standing`` as the author saw it. Raises ``Refused`` if it changed, and for a published
    review: an outdated page would otherwise make it a draft unnoticed.
    """
    if abs(on - at) > FARTHEST:
        raise BadInput("on", "Choose a day within three years.")
    with rules.changing(incident, by=by) as now:
        review = _begun(now, at=at)
        if review.state == ReviewState.PUBLISHED:
            raise Refused("This review is already published. Make it a draft again before you plan its meeting.")
        if seen not in {None, review.standing}:
            raise Refused("Someone planned the meeting after you opened this page. Nothing was changed.")
        review.state, review.meeting_at = ReviewState.MEETING, on
        _moved(review, now, "review_meeting", {"meeting": on.astimezone(UTC).isoformat()}, by=by, at=at)
    return review


def publish(incident: Incident, *, by: Person | None, at: datetime, seen: str | None = None) -> Review:
    """Publish the review; only the incident's channel is notified.

    ``seen`` is the review's ``newest`` as the author saw it, empty if there was none. Raises ``Refused`` if someone
    changed it since: no one publishes what they have not seen.
    """
    with rules.changing(incident, by=by) as now:
        is_new = not Review.objects.filter(incident=now).exists()
        review = _begun(now, at=at)
        if review.state == ReviewState.PUBLISHED:
            raise Refused("This review is already published.")
        if seen is not None and seen != ("" if is_new else review.newest):
            raise Refused("Someone changed this review after you opened this page. Read it, then publish it.")
        review.state, review.published_at = ReviewState.PUBLISHED, at
        # An archived channel accepts no messages.
        room = 0 if now.archive_asked else now.room
        _moved(review, now, "reviewed", {"room": room}, by=by, at=at)
    return review


def take_back(incident: Incident, *, by: Person | None, at: datetime) -> Review:
    """Make a review a draft again."""
    with rules.changing(incident, by=by) as now:
        review = _begun(now, at=at)
        if review.state == ReviewState.DRAFT:
            raise Refused("This review is a draft.")
        review.state, review.meeting_at, review.published_at = ReviewState.DRAFT, None, None
        _moved(review, now, "review_draft", {}, by=by, at=at)
    return review


def _moved(
    review: Review, incident: Incident, kind: str, data: dict[str, object], *, by: Person | None, at: datetime
) -> Event:
    review.save(update_fields=["state", "meeting_at", "published_at"])
    _changed(review, by=by, at=at, about=incident.codename, did=str(review.state))
    event = timeline.append(incident, kind, at=at, by=by, source=Source.WEB, data=data)
    rules.save(incident)
    return event


def _changed(review: Review, *, by: Person | None, at: datetime, about: str, **did: str) -> None:
    review.changed_at = at
    review.save(update_fields=["changed_at"])
    audit_notes.note("review", by=by, about=about, **did)


def _section(incident: Incident, key: str, *, at: datetime) -> ReviewSection:
    """Return a section in the caller's transaction, which holds the incident's lock."""
    if key not in KEYS:
        raise NoSuchSection("This review has no such section.")
    review = _begun(incident, at=at)
    made = {"read_to": incident.last_n}
    found, _ = ReviewSection.objects.select_related("review").get_or_create(review=review, key=key, defaults=made)
    return found


def _begun(incident: Incident, *, at: datetime) -> Review:
    """Return the review of an incident, created by the first thing that someone does with it."""
    found = Review.objects.filter(incident=incident).first()
    if found is None:
        if incident.is_active:
            raise lifecycle.Refused(f"{incident.codename} is {incident.status}. Its review begins when it has ended.")
        found = Review.objects.create(incident=incident, begun_at=at, changed_at=at)
        keys = [one.key for one in SECTIONS]
        ReviewSection.objects.bulk_create(ReviewSection(review=found, key=key, read_to=incident.last_n) for key in keys)
    found.incident = incident
    return found


__all__ = [
    "BadInput",
    "EditedMeanwhile",
    "NoSuchSection",
    "comment",
    "plan_meeting",
    "publish",
    "settle",
    "take_back",
    "write",
    "write_again",
]
