"""Receive evidence: the original is stored at once and read later by a worker."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q

from evidence.intake import hints, storage, stored_tree, withdrawing
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import Kind, Phase, State
from incidents import lifecycle, timeline
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Event, Incident, Person, Source

CHUNK = 1 << 18
VIAS = ("upload", "api", "slack", "capture", "otlp", "terminal", "link", "sample")
MIB = 1 << 20
UNREAD = (State.KEPT, State.FAILED)
SOURCES = {
    "slack": Source.SLACK,
    "api": Source.API,
    "otlp": Source.API,
    "terminal": Source.TERMINAL,
    "capture": Source.SYSTEM,
    "sample": Source.SAMPLE,
}


# Doors that resend what got no response, and how to recognise that. A form sends what it had seen instead.
SENT_AGAIN: Final = ("api", "otlp", "slack")
AGAIN_WITHIN: Final = timedelta(minutes=15)
SAID_OF_IT: Final = (
    *("original", "link", "title", "origin", "window_from", "window_to", "phase", "variant", "is_control", "unit"),
    "added_by",
)


class EvidenceTooLarge(lifecycle.BadInput):
    """The file is larger than the limit."""


@dataclass(frozen=True, slots=True)
class StoredOriginal:
    """An original in storage."""

    key: str
    size: int


def receive(
    incident: Incident,
    *,
    body: BinaryIO | Iterable[bytes],
    title: str,
    by: Person | None,
    via: str,
    at: datetime,
    file_name: str = "",
    origin: Mapping[str, Any] | None = None,
    window: tuple[datetime | None, datetime | None] = (None, None),
    phase: str = "",
    variant: str = "",
    is_control: bool = False,
    unit: str = "",
    limit_bytes: int | None = None,
    since: int | None = None,
) -> Evidence:
    """Store a file as evidence of an incident; a hint to read it is sent after the commit.

    ``body`` is read in chunks and never held whole; ``since`` is as in ``add``. Raises ``EvidenceTooLarge``,
    ``BadInput``, ``NotThere`` and ``StorageError``; then nothing is kept.
    """
    _check(via=via, phase=phase, window=window)
    said = rules.title(title or file_name or "Evidence")
    stored = store_body(body, limit_bytes=limit_bytes)
    more = {"file_name": shown_name(file_name)} if file_name else {}
    evidence = Evidence(
        incident=incident,
        title=said,
        origin={**(origin or {}), **more, "via": via},
        window_from=window[0],
        window_to=window[1],
        phase=phase,
        variant=variant[:80],
        is_control=is_control,
        unit=unit[:40],
        original=stored.key,
        size=stored.size,
        added_by=by,
        added_at=clock.at(at),
    )
    try:
        with transaction.atomic():
            withdrawing.hold(stored.key)
            return add(evidence, by=by, since=since)
    except lifecycle.NotThere:
        withdrawing.forget(stored.key, "")
        raise


def add(evidence: Evidence, *, by: Person | None, since: int | None = None) -> Evidence:
    """Number a new piece of evidence and write it; live pages update, and a reader gets a hint.

    If it was sent before, the earlier row is returned. ``since`` is the last evidence number shown on the form: the
    same content after that is one form submitted twice. Raises ``NotThere``.
    """
    with rules.changing(evidence.incident, by=by):
        if (sent := _sent_before(evidence, since=since)) is not None:
            return sent
        last = Evidence.objects.filter(incident=evidence.incident_id).aggregate(last=Max("n"))["last"]
        evidence.n = (last or 0) + 1
        evidence.save(force_insert=True)
        timeline.nudge_readers(evidence.incident_id)
        if evidence.state == State.READING:
            hints.tell(evidence)
    return evidence


def _sent_before(evidence: Evidence, *, since: int | None) -> Evidence | None:
    """Return an earlier row with the same file or link and the same details, sent by someone who got no response."""
    is_of_program = evidence.origin.get("via") in SENT_AGAIN
    if not (evidence.original or evidence.link) or (since is None and not is_of_program):
        return None
    lately = Q(added_at__gt=evidence.added_at - AGAIN_WITHIN) if since is None else Q(n__gt=since)
    same = {name: getattr(evidence, name) for name in SAID_OF_IT}
    found = Evidence.objects.filter(lately, incident=evidence.incident_id, **same)
    return found.exclude(state=State.WITHDRAWN).select_related("incident").order_by("n").first()


def add_link(
    incident: Incident, *, link: str, title: str, by: Person | None, via: str, at: datetime, since: int | None = None
) -> Evidence:
    """Put a link on the timeline as evidence; its target is not fetched. Raises ``BadInput`` for anything but a link.

    ``since`` is as in ``add``.
    """
    url = rules.text(link, field="link")
    if not url.startswith(("https://", "http://")) or len(url) > 2000 or any(one.isspace() for one in url):
        raise lifecycle.BadInput("link", "Enter a link that starts with https:// and has no spaces.")
    said = rules.title(title or url.partition("://")[2][:120])
    evidence = Evidence(
        incident=incident,
        kind=Kind.LINK,
        state=State.READY,
        title=said,
        link=url,
        origin={"via": via},
        added_by=by,
        added_at=clock.at(at),
        read_at=at,
    )
    with rules.changing(incident, by=by):
        added = add(evidence, by=by, since=since)
        if added is evidence:
            note(evidence, at=at)
    return added


def is_lost(evidence: Evidence) -> bool:
    """Return whether a profile's tree is missing from storage, or damaged, while its file is there.

    Raises ``StorageError`` if storage does not say.
    """
    if evidence.state != State.READY or not (evidence.tree and evidence.original):
        return False
    try:
        stored_tree.opened(evidence.tree)
    except StorageError:
        return storage.store().has(evidence.original)
    return False


def read_again(evidence: Evidence, *, by: Person | None) -> bool:
    """Have evidence read again that could not be read, or is lost; return whether there is something to read.

    Raises ``NotThere``, and ``StorageError`` if storage does not say what it has.
    """
    nowhere = Q(original="", origin__ref__isnull=True)  # neither stored nor to be fetched
    unread = Q(state__in=UNREAD) | (Q(state=State.READY, tree=evidence.tree) if is_lost(evidence) else Q(pk__in=()))
    again = Evidence.objects.filter(unread, pk=evidence.pk).exclude(nowhere)
    with rules.changing(evidence.incident, by=by):
        if not again.update(state=State.READING, says="", unanswered=0, leased_until=None):
            return False
        hints.tell(evidence)
    return True


def note(evidence: Evidence, *, at: datetime) -> None:
    """Write the timeline entry of evidence that was read, for its author, in the caller's transaction.

    If it was read again with the same outcome, it already has its entry.
    """
    data = {
        "n": evidence.n,
        "kind": evidence.kind,
        "state": evidence.state,
        "says": _said(evidence),
        "picture": evidence.kind == Kind.PROFILE and evidence.state == State.READY,
    }
    if evidence.added_by is not None and evidence.state in UNREAD:
        data["only"] = True  # the person who added it can act on it; to others it is no evidence
    told = Event.objects.filter(incident=evidence.incident_id, n=evidence.event_n or 0, text=evidence.title)
    if told.filter(data__contains=data).exists():
        timeline.nudge_readers(evidence.incident_id)
        return
    event = lifecycle.remark(
        evidence.incident,
        "evidence",
        at=evidence.added_at,
        recorded_at=at,
        by=None,
        author=evidence.added_by,
        source=SOURCES.get(evidence.origin.get("via", ""), Source.WEB),
        text=evidence.title,
        data=data,
        link=evidence.link[:500],
    )
    evidence.event_n = event.n
    evidence.save(update_fields=["event_n"])


def _said(evidence: Evidence) -> str:
    """Return the sentence with the first warning, for places without the evidence page."""
    return " ".join([evidence.says, *evidence.summary.get("guards", [])[:1]]).strip()


def store_body(body: BinaryIO | Iterable[bytes], *, limit_bytes: int | None = None) -> StoredOriginal:
    """Store a body under the hash of its content; raises ``EvidenceTooLarge``, or ``BadInput`` if it is empty.

    Raises ``StorageError`` if it cannot be stored; then nothing is left of it.
    """
    limit = limit_bytes or settings.FIREKIND.evidence_max_mib * MIB
    kept, digest, size = storage.store(), hashlib.sha256(), 0
    _must_be_mounted(kept)
    with storage.usable():
        descriptor, name = tempfile.mkstemp(dir=kept.scratch())
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            for chunk in _bounded(body, limit):
                size += len(chunk)
                digest.update(chunk)
                storage.write(file, chunk)
        key = storage.original_key(digest.hexdigest())
        kept.keep(key, path)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return StoredOriginal(key, size)


def _must_be_mounted(kept: storage.Store) -> None:
    """Raise ``StorageError`` where nothing is of what was stored: mounting the disk would hide what is put there."""
    if kept.is_bare() and Evidence.objects.exclude(original="").exists():
        raise StorageError(
            f"Nothing is left in {settings.FIREKIND.evidence_storage} of what was stored there. Mount its disk or "
            f"restore the files; if they are lost for good, create the folder {storage.ORIGINALS} in it.",
            says="Evidence storage lacks what was stored in it.",
        )


def _bounded(body: BinaryIO | Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for chunk in _chunks(body):
        size += len(chunk)
        if size > limit:
            raise EvidenceTooLarge("file", f"The file is larger than the {limit // MIB:,} MiB limit.")
        yield chunk
    if not size:
        raise lifecycle.BadInput("file", "The file is empty.")


def _chunks(body: BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    read = getattr(body, "read", None)  # iterating over a file yields lines, which may have any length
    if read is None:
        yield from body
        return
    while chunk := read(CHUNK):
        yield chunk


def _check(*, via: str, phase: str, window: tuple[datetime | None, datetime | None]) -> None:
    assert via in VIAS, "the door names itself"
    if phase and phase not in Phase.values:
        raise lifecycle.BadInput("phase", f"The phase must be one of {', '.join(Phase.values)}, or empty.")
    begin, end = window
    if begin and end and end < begin:
        raise lifecycle.BadInput("to", "The window ends before it begins.")


def shown_name(name: str) -> str:
    """Return the last part of a name, fit to be shown; it never decides where or how a file is stored."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(one for one in last if one.isprintable())[:120]
