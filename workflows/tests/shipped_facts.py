"""Facts of an incident under a shipped policy, as plain values for the planner."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from incidents.policies import policy_file
from incidents.policies.policy import Capture, Policy
from workflows.planning import captures, participation
from workflows.planning.facts import Facts, Room, Stay
from workflows.planning.invitee import Invitee
from workflows.planning.pages import Callee, Stranger

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    one.name: one
    for one in (
        captures.ProfileSource("checkout-api", ("cpu", "heap")),
        captures.ProfileSource("fleet", ("cpu",), looks_back=True),
        captures.ProfileSource("payments", ("cpu",), services=("Payments",), on=("declare", "mitigate"), seconds=5),
    )
}
CAPTURES = {
    "ambiguous": (
        Capture("checkout-api", "cpu", "declare", 15),
        Capture("checkout-api", "cpu", "mitigate", 15),
        Capture("checkout-api", "heap", "retype", 0),
    ),
    "major": (
        Capture("checkout-api", "cpu", "retype", 30, repeat=3, every_min=5),
        Capture("fleet", "cpu", "mitigate", 60),
        Capture("gone", "cpu", "declare", 15),
    ),
    "security": (Capture("fleet", "cpu", "resolve", 60), Capture("checkout-api", "cpu", "reopen", 15)),
}
PAGES = {
    "ambiguous": ("Engineering",),
    "time-bomb": ("Engineering", "Major incidents"),
    "isolated": ("Nobody home", "payments"),
    "security": ("Security", "Major incidents"),
    "major": ("Major incidents",),
}
POLICIES: dict[str, Policy] = {
    policy.slug: replace(policy, captures=CAPTURES.get(policy.slug, ()), pages=PAGES.get(policy.slug, ()))
    for policy in policy_file.read(ROOT / "fixtures/incident_types.yaml").policies
}
DECLARED_AT = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
GROUPS = {
    "incident-response": "ann ben",
    "leadership-oncall": "lea",
    "security": "sam sia",
    "platform-leadership": "pat pia",
    "support": "sue ben",
    "engineering-oncall": "eve eli ann",
    "leadership": "lea leo",
    "communications": "cat",
}


STRANGERS = (Stranger("PUMA", "Uma Ray", "they are not matched to anyone here"),)


def someone(name: str, why: str = "") -> Invitee:
    """A person whose id is their name in capitals."""
    return Invitee(name.upper(), name.capitalize(), why, int.from_bytes(name.encode()))


def groups(handles: dict[str, str] = GROUPS) -> dict[str, tuple[Invitee, ...] | None]:
    """The groups of the shipped policies, each with its members."""
    return {handle: tuple(someone(name, f"@{handle}") for name in names.split()) for handle, names in handles.items()}


def callees() -> dict[str, Callee | None]:
    """Who the policies page, each with the person on call; the pager lacks one of them."""
    return {
        "Engineering": Callee(
            "policy/PE", "Engineering", "S1", (someone("eve", "on call for Engineering"),), "pages Eve", names=("Eve",)
        ),
        "Major incidents": Callee(
            "policy/PM",
            "Major incidents",
            "S1",
            (someone("max", "on call"),),
            "pages Max",
            strangers=STRANGERS,
            names=("Max",),
        ),
        "Security": Callee("policy/PS", "Security", "S2", (someone("sid", "on call"),), "pages Sid", names=("Sid",)),
        "payments": Callee("service/S3", "payments", "S3", (), "no one is on call"),
        "Nobody home": None,
    }


def facts(type: str = "ambiguous", *, pager: bool = False) -> Facts:
    """An incident that Dee has just declared."""
    policy = POLICIES[type]
    return Facts(
        revision=1,
        codename="amber-otter",
        title="Checkout is slow",
        policy=policy,
        private=policy.private,
        room=1,
        rooms=(Room(1, "inc-amber-otter", policy.private, "inc-amber-otter"),),
        url="https://firekind.test/incidents/amber-otter/",
        declared_at=DECLARED_AT,
        declarer=someone("dee"),
        stays=(Stay(someone("dee"), "declared"),),
        groups=groups(),
        triggers=(captures.Trigger(1, "declare", DECLARED_AT),),
        sources=SOURCES,
        pager=pager,
        callees=callees(),
        on_call={"Platform leadership": (someone("pat", "on call for Platform leadership"),)},
    )


def entered(facts: Facts) -> Facts:
    """The facts once those who should come in were recorded and a private incident is closed."""
    coming = {one.who.person_id: Stay(one.who, *one.entry, named=True) for one in participation.of(facts).coming}
    known = {stay.who.person_id: stay for stay in facts.stays} | coming
    return replace(facts, stays=tuple(known.values()), is_closed=facts.private)
