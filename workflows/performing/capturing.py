"""Capture a profile from its source and keep it as evidence of the incident."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from evidence.intake import receiving
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from incidents import lifecycle
from incidents.drills import agreement
from incidents.lifecycle import rules
from incidents.models import Incident, Person, Source
from incidents.policies.policy import COUNTS, MEASURES, sentence
from workflows import ports
from workflows.effects import effect_queue
from workflows.effects.work import Outcome, Work, made
from workflows.ports import Profiler, VendorError


def ask(
    incident: Incident,
    *,
    source: str,
    kind: str = "",
    seconds: int | None = None,
    by: Person | None,
    at: datetime,
    via: str = Source.WEB,
) -> str:
    """Request one capture now; return what will be done, in words.

    The default kind is the source's first, the default length is the one in the operator's list or the usual one.
    Raises ``BadInput`` for a source that is not on the list, and for what it does not offer.
    """
    rules.must_see(incident, by=by)
    agreement.must_be_real(incident, "capture profiles for")
    profiler = ports.profiler()
    known = {one.name: one for one in profiler.sources()} if profiler else {}
    if source not in known:
        raise lifecycle.BadInput("source", f"There is no profile source {source!r}. {_known(known)}")
    kind = kind or known[source].kinds[0]
    if kind not in known[source].kinds:
        raise lifecycle.BadInput("kind", f"{source} provides {', '.join(known[source].kinds)}, not {kind!r}.")
    if seconds is None:
        seconds = known[source].seconds if kind == known[source].kinds[0] else MEASURES[kind].seconds
    low, high = (0 if MEASURES[kind].all else 1), COUNTS["seconds"][1]
    if not low <= seconds <= high:
        raise lifecycle.BadInput("seconds", f"Use a number of seconds from {low} to {high}.")
    text = sentence(source, kind, seconds)
    data = {"source": source, "kind": kind, "seconds": seconds}
    lifecycle.remark(incident, "asked", by=by, at=at, source=via, text=text, data=data)
    return text


def _known(names: object) -> str:
    said = ", ".join(sorted(names))  # type: ignore[call-overload]  # any iterable of names
    return f"Configured sources: {said}." if said else "No sources are configured: see PROFILE_SOURCES_FILE."


def capture(profiler: Profiler, work: Work) -> Outcome:
    """Take the profile and keep it, unless someone else took this effect over meanwhile. Raises ``VendorError``."""
    spec = work.effect.spec
    at = datetime.fromisoformat(spec["until"]) if "until" in spec else timezone.now()
    taken = profiler.capture(spec["source"], spec["kind"], seconds=spec["seconds"], at=at)
    with taken.body:
        if not effect_queue.CLAIMS.renew(work.effect, at=timezone.now()):
            says = "Another worker took over this capture; this result is discarded."
            raise VendorError(says, code="taken_over", method=work.effect.method)
        kept = _keep(work, taken)
    return _there(work, kept)


def look_for_evidence(profiler: Profiler, work: Work) -> Outcome | None:
    """Check whether the profile of an earlier try was kept."""
    found = Evidence.objects.filter(incident=work.effect.incident_id, origin__effect=work.effect.key).first()
    return _there(work, found) if found else None


def _keep(work: Work, taken: ports.Captured) -> Evidence:
    spec = work.effect.spec
    incident = Incident.objects.get(pk=work.effect.incident_id)
    title = sentence(spec["source"], spec["kind"], spec["seconds"]).removeprefix("capture ")
    origin = {
        "effect": work.effect.key,
        "source": spec["source"],
        "kind": spec["kind"],
        "seconds": spec["seconds"],
        "on": spec["on"],
        "query": taken.query,
        "link": taken.link,
    }
    try:
        return receiving.receive(
            incident,
            body=taken.body,
            title=title[0].upper() + title[1:],
            by=None,
            via="capture",
            at=timezone.now(),
            file_name=taken.file_name,
            origin=origin,
            window=taken.window,
            phase=spec["phase"],
            unit=taken.unit,
        )
    except lifecycle.BadInput as bad:
        raise VendorError(str(bad), code="not_taken", method=work.effect.method) from bad
    except StorageError as error:
        says = f"{error.says} The profile was captured but could not be stored. Capturing again."
        raise VendorError(says, code="not_stored", method=work.effect.method, retryable=True) from error


def _there(work: Work, evidence: Evidence) -> Outcome:
    thing = made(work, external={"n": evidence.n}, external_id=str(evidence.pk))
    return Outcome([thing], says=f"captured {thing.label}")
