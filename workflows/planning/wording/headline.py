"""The card with the state of an incident: pinned in its channel, and posted where incidents are announced. Pure."""

from __future__ import annotations

from dataclasses import replace

from incidents.people.bidi import isolated
from workflows.planning.facts import ChannelPost, Facts
from workflows.planning.wording.card import Button, Card, cut
from workflows.planning.wording.marks import Words, ago, joined, room, when

STATUS_WORDS = {
    "open": "Open",
    "mitigated": "Mitigated",
    "resolved": "Resolved",
    "cancelled": "Cancelled",
    "duplicate": "Duplicate",
}
PAGE = "Open the timeline"
REVIEW = "Open the review"
SHOWN_CHARS = 700  # anything beyond a phone's screen is on the page


def headline(facts: Facts) -> Card:
    """Say what this is, who leads, what was said last, and offer what can be done now."""
    fields: list[tuple[str, Words]] = [("Type", _type(facts)), ("Lead", lead(facts))]
    fields += [(role, holder.mention) for role, holder in facts.roles]
    if facts.active and facts.due_at is not None:
        fields += [("Next update due", (when(facts.due_at),))]
    return Card(
        kind="headline",
        title=facts.title,
        fields=tuple(fields),
        sections=said_so_far(facts),
        context=(joined(_declared(facts), _declarer(facts), _meaning(facts)),),
        link=facts.url,
        link_label=PAGE,
        buttons=_verbs(facts),
        tone=facts.policy.colour,
    )


def announcement(facts: Facts) -> Card:
    """The message in the announcement channel, kept current."""
    return Card(
        kind="announcement",
        title=f"{isolated(facts.policy.name)}: {isolated(facts.title)}",
        fields=(
            ("Status", STATUS_WORDS[facts.status]),
            ("Lead", lead(facts)),
            *(() if facts.room_of(facts.room).gone else (("Channel", (room(facts.room),)),)),
        ),
        sections=said_so_far(facts, to_all=True),
        context=(_declared(facts),),
        link=facts.url,
        link_label=PAGE,
        tone=facts.policy.colour,
    )


def said_so_far(facts: Facts, *, to_all: bool = False) -> tuple[tuple[str, Words], ...]:
    """Return impact, the latest update with its age, next step and summary; each cut to what a phone shows.

    ``to_all`` leaves out the next step, which is for responders.
    """
    found: list[tuple[str, Words]] = []
    if facts.impact is not None:
        found.append(("Impact", cut(facts.impact.text, SHOWN_CHARS)))
    if facts.update is not None:
        label = "Latest update" if facts.active else "Last update"
        aside: Words = (", ", ago(facts.update.at)) if facts.update.at else ""
        text = cut(facts.update.text, SHOWN_CHARS)
        found.append((label, joined(f"{text}\n{facts.update.by or 'Firekind'}", aside)))
    if facts.next_step is not None and facts.active and not to_all:
        text = cut(facts.next_step.text, SHOWN_CHARS)
        found.append(("Next step", step(replace(facts.next_step, text=text))))
    return (*found, ("Summary", cut(facts.summary, SHOWN_CHARS))) if facts.summary else tuple(found)


def step(stated: ChannelPost) -> Words:
    """Say what was stated; a next step is preceded by its owner."""
    return joined(stated.owner.mention, ": ", stated.text) if stated.owner is not None else stated.text


def lead(facts: Facts) -> Words:
    """Name the lead, or say that there is none."""
    return facts.lead.mention if facts.lead else "no one yet" if facts.active else "no one"


def _type(facts: Facts) -> str:
    """Say type and status in one line, because a phone has few."""
    private = " · private" if facts.private else ""
    return f"{isolated(facts.policy.name)}{private} · {STATUS_WORDS[facts.status]}"


def _declared(facts: Facts) -> Words:
    return joined(f"{facts.codename} · declared ", (when(facts.declared_at),))


def _meaning(facts: Facts) -> str:
    """Say what the type means, preceded by its name, because it is not news about this incident."""
    return f" · {isolated(facts.policy.name)}: {facts.policy.says}"


def _declarer(facts: Facts) -> str:
    """Name who declared it, because they know most about it at first."""
    return f" by {isolated(facts.declarer.name)}" if facts.declarer is not None else ""


def _verbs(facts: Facts) -> tuple[Button, ...]:
    """Offer what this state allows, most urgent first."""
    if not facts.active:
        return (Button(REVIEW, "open", f"{facts.url}review", "primary"), Button("Reopen", "reopen", facts.codename))
    take = (Button("Take the lead", "take-lead", facts.codename, "primary"),) if facts.lead is None else ()
    mitigate = (Button("Mitigate", "mitigate", facts.codename),) if facts.status == "open" else ()
    return (
        *take,
        Button("Update", "update", facts.codename),
        Button("Retype", "retype", facts.codename),
        *mitigate,
        Button("Resolve", "resolve", facts.codename),
    )
