"""Read what was received: in a separate process, once, with an outcome that is always reported."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from evidence.intake import fetching, images, naming, receiving, storage, withdrawing
from evidence.intake.storage import NotStored, StorageError
from evidence.models import Evidence, HotFunction
from evidence.models.evidence import Kind, State
from evidence.profile.errors import NotRecognised, Unreadable
from evidence.reader import child
from incidents import timeline
from incidents.claiming.leases import Leases
from incidents.claiming.shared_clock import clock

log = logging.getLogger(__name__)

# Consecutive claims with no result recorded. A reader that ends by itself is reported at once (`child`), and a claim is
# renewed while its worker lives, however slow that is, so this many workers died.
UNANSWERED = 8
KILLED = 3  # of those, how many may be due to someone else killing the reader
VERSION = 4  # of a reader's output; a newer one reads old originals into separate trees
LEASE = timedelta(seconds=15)  # how soon a reader that died is replaced
CLAIMS = Leases(Evidence.objects, working=State.READING, length=lambda: LEASE, beats=5)
PATIENCE = timedelta(hours=6)
MISSED = timedelta(minutes=10)  # for a file that storage does not have: another machine may be uploading it
AGAIN = timedelta(seconds=10)
GONE = "Couldn't read it: the file is no longer in storage."
LATE = "Couldn't read it: {} Process it again once that is fixed."
KILLED_SAYS = (
    f"Couldn't read it: its reader was killed {KILLED} times, most likely because the machine ran out of memory. "
    "The file is kept; process it again later."
)
LOST = "Couldn't read it: the worker crashed on every attempt. The file is kept; process it again later."


def waiting(*, at: datetime, limit: int = 50, stored: bool = False) -> list[int]:
    """Return evidence that no worker is reading, oldest first; with ``stored``, only if its file is already stored."""
    free = CLAIMS.free(at=at).exclude(original="") if stored else CLAIMS.free(at=at)
    return list(free.order_by("pk").values_list("pk", flat=True)[:limit])


def is_elsewhere(evidence_id: int) -> bool:
    """Return whether the file of evidence still has to be fetched."""
    return Evidence.objects.filter(pk=evidence_id, original="", state=State.READING).exists()


def fetch(evidence_id: int, *, at: datetime) -> None:
    """Fetch the file of one piece of evidence; reading it is left to others."""
    _take(evidence_id, _fetch_alone, at=at)


def digest(evidence_id: int, *, at: datetime) -> None:
    """Read one piece of evidence and write what was found, with its timeline entry.

    Does nothing if another worker is reading it or has read it. If storage does not respond or the reader was killed,
    it is left to a later sweep.
    """
    _take(evidence_id, _read_or_keep, at=at)


def _take(evidence_id: int, do: Callable[[Evidence], None], *, at: datetime) -> None:
    if not CLAIMS.take(evidence_id, at=at):
        return
    evidence = Evidence.objects.select_related("incident", "added_by").defer("incident__words").get(pk=evidence_id)
    if evidence.unanswered > UNANSWERED:
        _end(evidence, State.FAILED, says=LOST)
        return
    try:
        with CLAIMS.renewed(lambda: [evidence], what=f"evidence {evidence.pk}"), storage.refusals_told():
            do(evidence)
    except Unreadable as error:
        _end(evidence, State.FAILED, says=str(error))
    except child.ReaderKilled:
        _read_later(evidence)
    except StorageError as error:
        _wait(evidence, error)


def _read_later(evidence: Evidence) -> None:
    """Leave it to a later sweep, because nothing is known of the file; give up once its reader was killed too often."""
    if evidence.unanswered >= KILLED:
        _end(evidence, State.FAILED, says=KILLED_SAYS)
        return
    log.warning("the reader of evidence %s was killed; it is read again", evidence.pk)
    CLAIMS.mine(evidence).update(leased_until=clock.at(timezone.now()) + AGAIN)


def _fetch_alone(evidence: Evidence) -> None:
    if not evidence.original:
        fetching.fetch(evidence)
    CLAIMS.mine(evidence).update(leased_until=None, unanswered=0)


def _read_or_keep(evidence: Evidence) -> None:
    try:
        _read(evidence)
    except NotRecognised as error:
        _keep(evidence, says=str(error))


def _wait(evidence: Evidence, error: StorageError) -> None:
    """Leave it to a later sweep, and say so on its page; give up once that took too long."""
    now, is_new = timezone.now(), evidence.says != error.says
    if is_new:
        log.warning("evidence %s waits for the storage: %s", evidence.pk, error)
    if clock.at(now) - evidence.added_at > (MISSED if isinstance(error, NotStored) else PATIENCE):
        _end(evidence, State.FAILED, says=GONE if isinstance(error, NotStored) else LATE.format(error.says))
        return
    waits = CLAIMS.mine(evidence).update(leased_until=clock.at(now) + AGAIN, unanswered=0, says=error.says)
    if waits and is_new:
        timeline.nudge_readers(evidence.incident_id)


def _keep(evidence: Evidence, *, says: str) -> None:
    """Keep a file that isn't parsed: an image, or a file of another kind."""
    image = images.kind_of(storage.store().local(evidence.original))
    if image:
        says = naming.belied(evidence.file_name, found=image)
        _end(evidence, State.READY, says=says, summary={"kind": Kind.PICTURE, "format": image})
    else:
        _end(evidence, State.KEPT, says=f"Stored as is. {says}")


def _read(evidence: Evidence) -> None:
    kept = storage.store()
    if not evidence.original:
        fetching.fetch(evidence)
    path = kept.local(evidence.original)
    with storage.room() as folder:
        tree, small = folder / "tree", folder / "thumbnail"
        found = child.read_apart(path, tree=tree, thumbnail=small, unit=evidence.unit, subject=_subject(evidence))
        key = ""
        if tree.exists():
            key = _tree_key(evidence)
            kept.keep(storage.thumbnail_key(key), small)
            kept.keep(key, tree)
    summary = _warned(found.plain, naming.belied(evidence.file_name, found=str(found.plain.get("format", ""))))
    if not _end(evidence, State.READY, says=str(summary.get("sentence", "")), summary=summary, tree=key):
        withdrawing.forget("", key)


def _warned(summary: Mapping[str, Any], says: str) -> Mapping[str, Any]:
    """Put a warning before those of the reader."""
    return {**summary, "guards": [says, *summary.get("guards", [])]} if says else summary


def _subject(evidence: Evidence) -> str:
    """Return the words that may name the affected process or service."""
    return " ".join([evidence.title, evidence.incident.title, *evidence.incident.services])[:1000]


def _tree_key(evidence: Evidence) -> str:
    same = hashlib.sha256(f"{evidence.original}\0{evidence.unit}\0{VERSION}".encode()).hexdigest()
    return f"trees/{same[:2]}/{same}"


def _end(
    evidence: Evidence, state: State, *, says: str, summary: Mapping[str, Any] | None = None, tree: str = ""
) -> bool:
    """Write the outcome, the hot functions and the entry; return whether it was still wanted."""
    now = timezone.now()
    summary = summary or {}
    with transaction.atomic():
        if tree:
            withdrawing.hold(tree, storage.thumbnail_key(tree))
        timeline.hold(evidence.incident_id)  # before locking its evidence, in the order in which withdrawing locks
        evidence.state, evidence.says, evidence.summary, evidence.tree = state, says, dict(summary), tree
        evidence.kind = Kind(summary.get("kind", Kind.PROFILE if tree else evidence.kind))
        evidence.format, evidence.read_at, evidence.leased_until = summary.get("format", ""), now, None
        fields = ("state", "says", "summary", "tree", "kind", "format", "read_at", "leased_until")
        if not CLAIMS.mine(evidence).update(**{field: getattr(evidence, field) for field in fields}):
            return False  # another worker has read it, or it was withdrawn
        HotFunction.objects.filter(evidence=evidence).delete()
        HotFunction.objects.bulk_create(
            HotFunction(
                evidence=evidence,
                digest=name_digest(one["name"]),
                name=one["name"],
                share=one["share"],
                self_share=one["self_share"],
            )
            for one in summary.get("hot", [])
        )
        receiving.note(evidence, at=now)
    return True


def name_digest(name: str) -> str:
    """Return the hash by which a function is indexed."""
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
