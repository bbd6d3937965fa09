"""Findings: a hypothesis and its rounds, each with a verdict and the evidence it rests on.

Each verb is one transaction, does no network I/O, and raises ``NotThere`` and ``Refused``. Rounds are never edited: to
correct one, judge again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Final

from django.db.models import Max, Prefetch, prefetch_related_objects

from evidence.models import Evidence, Finding, Round, Support
from evidence.models.evidence import State
from evidence.models.finding import Verdict
from incidents import lifecycle
from incidents.lifecycle import BadInput, Refused, rules
from incidents.models import Incident, Person, Source
from incidents.written_rows import WrittenRows

FINDING: Final = WrittenRows(Finding, of="f", beside={"by": WrittenRows(Person, of="b")})
CLAIM_CHARS = 300
MOST = 200  # findings of an incident
MOST_ROUNDS = 100
MOST_SUPPORTS = 20
# What a late joiner should know first; what was ruled out comes last.
ORDER = (Verdict.ROOT_CAUSE, Verdict.SUPPORTED, Verdict.PARTIAL, Verdict.OPEN, Verdict.REFUTED)


class Unclaimed(Refused):
    """No hypothesis matches what was asked for."""


class Overtaken(Refused):
    """Another verdict was added while a form was open."""


def claim(incident: Incident, *, text: str, by: Person | None, at: datetime, source: str = Source.WEB) -> Finding:
    """Add a hypothesis about the incident, open until someone adds a verdict. Raises ``BadInput`` and ``Refused``."""
    said = _claim(text)
    with rules.changing(incident, by=by) as now:
        known = Finding.objects.filter(incident=now)
        last = known.aggregate(last=Max("n"))["last"] or 0
        if last >= MOST:
            raise Refused(f"An incident can have at most {MOST} findings.")
        if known.filter(claim__iexact=said).exists():
            raise BadInput("claim", "This hypothesis already exists. Add a verdict to that one.")
        finding = Finding.objects.create(incident=now, n=last + 1, claim=said, by=by, at=at, judged_at=at)
        data = {"n": finding.n}
        lifecycle.remark(now, "claimed", by=by, at=at, source=source, text=said, data=data)
    return finding


def judge(
    finding: Finding,
    *,
    verdict: str,
    text: str = "",
    supports: Collection[int] = (),
    against: Collection[int] = (),
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    seen: int | None = None,
) -> Round:
    """Add a round to a finding: a verdict, why, and the numbers of the evidence for the claim and against it.

    It is posted in the channel only if the verdict changes. ``seen`` is how many rounds the person saw; raises
    ``Overtaken`` if there are more, ``BadInput`` for evidence that does not exist, and ``Refused`` for more rounds than
    a finding can have.
    """
    if verdict not in Verdict.values:
        raise BadInput("verdict", f"The verdict must be one of {', '.join(Verdict.values)}.")
    text = rules.text(text, needed=False)
    with rules.changing(finding.incident, by=by) as incident:
        now = Finding.objects.get(pk=finding.pk)
        found = _evidence(incident, supports, against)
        n = _next_round(now, seen)
        one = Round.objects.create(finding=now, n=n, verdict=verdict, text=text, by=by, at=at)
        Support.objects.bulk_create(
            Support(round=one, evidence=found[number], against=number in against) for number in sorted(found)
        )
        data = _data(now, one, supports=supports, against=against)
        event = lifecycle.remark(incident, "judged", by=by, at=at, source=source, text=text, data=data)
        one.event_n = event.n
        one.save(update_fields=["event_n"])
        now.verdict, now.judged_at = Verdict(verdict), at
        now.save(update_fields=["verdict", "judged_at"])
    return one


def of(incident: Incident) -> list[Finding]:
    """Return findings, the root cause first, the refuted last; each has its rounds in a list, ``told``."""
    found = FINDING.read(
        "FROM evidence_finding f LEFT JOIN incidents_person b ON b.id = f.by_id WHERE f.incident_id = %s", [incident.pk]
    )
    if not found:
        return []
    supports = Support.objects.select_related("evidence").order_by("against", "evidence__n")
    rounds = Round.objects.select_related("by").order_by("n").prefetch_related(Prefetch("supports", supports))
    prefetch_related_objects(found, Prefetch("rounds", rounds, to_attr="told"))
    return ordered(found)


def resting_on(evidence: Evidence) -> list[Support]:
    """Return where findings rest on a piece of evidence, for the claim or against it, the newest round first."""
    found = Support.objects.filter(evidence=evidence).select_related("round__finding", "round__by")
    return list(found.order_by("-round__at", "-round_id"))


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Order findings as a late joiner wants them; within one verdict the newest first."""
    newest = sorted(findings, key=lambda one: (one.judged_at, one.n), reverse=True)
    return sorted(newest, key=lambda one: ORDER.index(Verdict(one.verdict)))


def claimed(incident: Incident, words: str) -> Finding:
    """Return the finding named by its number or by words of its hypothesis.

    Raises ``Unclaimed`` if there is none, ``Refused`` if there are several.
    """
    said = words.strip().strip("“”\"'").strip()
    found = Finding.objects.select_related("incident").defer("incident__words").filter(incident=incident)
    if said.removeprefix("#").isdecimal() and len(said) < 9:
        matching = list(found.filter(n=int(said.removeprefix("#"))))
    else:
        matching = list(found.filter(claim__iexact=said)) or list(found.filter(claim__icontains=said)[:2])
    if not matching:
        raise Unclaimed(f"No hypothesis matches “{said[:100]}”.")
    if len(matching) > 1:
        raise Refused(f"More than one hypothesis matches “{said[:100]}”. Give the number of the finding.")
    return matching[0]


def _claim(text: str) -> str:
    said = " ".join(rules.text(text, field="claim", needed=False).split()).strip('“”"').strip()
    if not said:
        raise BadInput("claim", "State your hypothesis in one sentence.")
    if len(said) > CLAIM_CHARS:
        raise BadInput("claim", f"A hypothesis can have at most {CLAIM_CHARS} characters; this one has {len(said)}.")
    return said


def _next_round(finding: Finding, seen: int | None) -> int:
    last = Round.objects.filter(finding=finding).select_related("by").order_by("-n").first()
    if last is None:
        return 1
    if seen is not None and last.n > seen:
        who = last.by.name if last.by else "Firekind"
        verdict = Verdict(last.verdict).label.lower()
        raise Overtaken(f"{who} gave a verdict while you were writing: {verdict}. Review it, then submit again.")
    if last.n >= MOST_ROUNDS:
        raise Refused(f"A finding can have at most {MOST_ROUNDS} rounds.")
    return last.n + 1


def _evidence(incident: Incident, supports: Collection[int], against: Collection[int]) -> dict[int, Evidence]:
    wanted = {*supports, *against}
    if both := {*supports} & {*against}:
        raise BadInput("against", f"Evidence {min(both)} can't be both for and against.")
    if len(wanted) > MOST_SUPPORTS:
        raise BadInput("supports", f"A round can cite at most {MOST_SUPPORTS} pieces of evidence.")
    known = Evidence.objects.filter(incident=incident, n__in=wanted).exclude(state=State.WITHDRAWN)
    found = {one.n: one for one in known}
    if missing := wanted - found.keys():
        field = "against" if missing <= {*against} else "supports"
        raise BadInput(field, f"There's no evidence {min(missing)} on this incident.")
    return found


def _data(finding: Finding, one: Round, *, supports: Collection[int], against: Collection[int]) -> dict[str, Any]:
    """Return what the entry needs to be read on its own; an unchanged verdict notifies no one."""
    changed = one.verdict != finding.verdict
    return {
        "n": finding.n,
        "claim": finding.claim,
        "round": one.n,
        "verdict": one.verdict,
        "was": finding.verdict,
        "for": sorted(supports),
        "against": sorted(against),
        **({} if changed else {"room": 0}),
    }
