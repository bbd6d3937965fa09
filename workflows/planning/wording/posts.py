"""The channel's messages about the timeline: one card per kind of entry, with buttons for what it asks for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from incidents import sentences
from incidents.sentences import capital
from workflows.planning.facts import ChannelPost, Facts, RetypeNews, TaskNow
from workflows.planning.wording.card import Button, Card, cut
from workflows.planning.wording.cards import redacted, taken_back, withdrawn
from workflows.planning.wording.headline import PAGE, REVIEW, step
from workflows.planning.wording.marks import Words, joined

ASKS: Final = {"update": "Post an update", "resolve": "Resolve the incident", "fill": "Choose someone"}
ANSWERS: Final = (("Let in", "let-in", "primary"), ("Not now", "turn-away", ""))
GUESSES: Final = (("Answer", "answer", "primary"), ("Show what happened next", "show-next", ""))
ASKING: Final = ("asked_in", "offered")  # the kinds of entries that ask whether to let someone in
BY_HAND: Final = "Manual action required"
NOWHERE_ELSE: Final = "You got this directly because there is no private channel yet. Nothing was posted anywhere else."
NO_CHANNEL: Final = "You got this directly because there is no channel yet."
IN_PAGER: Final = "Open in PagerDuty"
STATED: Final = {"updated": "Update", "impact": "Impact", "next_step": "Next step"}
LINKS: Final = {"page": IN_PAGER, "alert": IN_PAGER}
# The title and the colour of the cards of some kinds; entries of all other kinds are one plain line.
CARDS: Final[Mapping[str, tuple[str, str]]] = {
    "due": ("A status update is due", "amber"),
    "gap": ("Missing", "orange"),
    "failed": ("Failed", "red"),
    "page": ("Page", "blue"),
    "alert": ("Alert", "orange"),
    "asked_in": ("Let them in?", "violet"),
    "offered": ("Let them in?", "violet"),
    "glass": ("Someone broke glass", "red"),
    "warned": ("Warning", "red"),
    "opening": ("A summary to confirm", "violet"),
    "mitigated": ("Mitigated", "green"),
    "resolved": ("Resolved", "green"),
    "reopened": ("Reopened", "orange"),
    "cancelled": ("Cancelled", "slate"),
    "replay_asked": ("What would you do next?", "violet"),
    "replay_over": ("Replay", "slate"),
}
# Kinds whose first sentence says more than a generic title: it becomes the title, and the rest goes below.
NEWS: Final = frozenset({"gap", "failed", "page", "alert", "warned"})
HEAD_CHARS: Final = 200  # a longer one is no title
# Kinds that say who did it and why in a word: *Resolved by Ann*.
DEEDS: Final = frozenset({"mitigated", "resolved", "reopened", "cancelled"})
UPDATED: Final = frozenset({"updated", "mitigated", "resolved", "cancelled", "duplicated"})  # kinds that settle it
UNCHANGED: Final = "No one new is brought in, and nothing else changes."
LINES: Final = 6  # of what a retype changed; a button shows the rest
LINE_CHARS: Final = 160
WHY_CHARS: Final = 700
ENTRY_GONE: Final = ("message", "retracted", "retracted")  # what was taken back, who did what to it, what it is now
EVIDENCE_GONE: Final = ("evidence", "withdrew", "withdrawn")


def told(event: ChannelPost, facts: Facts) -> Card:
    """Return the channel message for an event."""
    if event.withdrawn:
        return withdrawn()
    if event.redacted or event.retracted:
        what, did, done = EVIDENCE_GONE if event.evidence else ENTRY_GONE
        return redacted() if event.redacted else taken_back(what, did=did, done=done, by=event.retracted_by)
    if event.kind in STATED:
        return _statement(event)
    if event.retype is not None:
        return _retyped(event, event.retype, facts)
    return _worked(event, facts)


def _worked(event: ChannelPost, facts: Facts) -> Card:
    """Return the card for someone's work: evidence, a verdict, a review, a task; else that of its kind."""
    if event.evidence:
        return _evidence(event, facts)
    if event.finding:
        address = f"{facts.url}findings/#finding-{event.finding}"
        title, text = f"Finding from {event.by or 'Firekind'}", capital(event.sentence)
        return Card(event.kind, title, text, buttons=_opening(address, "All findings"), tone="teal")
    if event.kind == "reviewed":
        return Card(event.kind, _said(event), buttons=_opening(f"{facts.url}review", REVIEW), tone="teal")
    if event.task is not None:
        return _task(event, event.task, facts)
    return _card(event, facts)


def by_hand(event: ChannelPost, facts: Facts) -> Card:
    """Tell one person what needs doing by hand when no channel can: nothing about what a private incident concerns."""
    return Card(
        kind="by_hand",
        title=f"{facts.codename}: {BY_HAND[0].lower()}{BY_HAND[1:]}",
        text=event.by_hand if facts.private else f"{event.by_hand}\n{_said(event)}",
        context=(NOWHERE_ELSE if facts.private else NO_CHANNEL,),
        link=facts.url,
        link_label=PAGE,
        buttons=_asked(event, facts),
        tone="red",
    )


def unread(event: ChannelPost, facts: Facts) -> Card:
    """Tell the person who added a file that it could not be read: nothing about what the incident concerns."""
    return Card(
        kind="unread",
        title=f"{facts.codename}: evidence {event.evidence} could not be read",
        text="Its page says why. There you can try again or withdraw it.",
        context=("Only you were notified. Nothing was posted in the channel.",),
        link=f"{facts.url}evidence/{event.evidence}/",
        link_label="Open evidence",
        buttons=_opening(f"{facts.url}evidence/{event.evidence}/withdraw", "Withdraw…"),
        tone="amber",
    )


def _card(event: ChannelPost, facts: Facts) -> Card:
    """Return the card of an entry, or the plain line of a kind without a title."""
    label = LINKS.get(event.kind, "Open")
    title, tone = CARDS.get(event.kind, ("", ""))
    if not title:
        return Card(event.kind, "", _named(event), link=event.link, link_label=label if event.link else "")
    text: Words
    if event.by_hand:
        title, text, tone = BY_HAND, f"{event.by_hand}\n{_said(event)}", "red"
    elif event.kind in ASKING:
        title, text = _asking(event, facts)
        tone = "slate" if event.answer else tone
    elif event.kind == "due":
        title, text, tone = _due(event, facts)
    elif event.kind == "glass":
        title, text = f"{event.by or 'Someone'} broke glass", _they(event, "broke glass and ")
    elif event.kind in DEEDS:
        title, text = f"{title} by {event.by}" if event.by else title, event.text
    elif event.kind in NEWS:
        title, text = _first(_said(event), title)
    else:
        text = _said(event)
    asked = _reminding(event, facts) if event.kind == "due" else _asked(event, facts)
    return Card(event.kind, title, text, buttons=(*asked, *_opening(event.link, label)), tone=tone)


def _named(event: ChannelPost) -> Words:
    """Say an entry in a line; someone given the lead or a role by someone else is mentioned, to notify them."""
    said = _said(event)
    at = said.find(event.owner.name, len(event.by)) if event.owner is not None and event.owner.name else -1
    if event.owner is None or at < 0:
        return said
    return joined(said[:at], event.owner.mention, said[at + len(event.owner.name) :])


def _first(said: str, title: str) -> tuple[str, str]:
    """Split a text into its first sentence and the rest; a sentence too long for a title goes below the usual one."""
    head, rest = sentences.first(said)
    return (head, rest) if len(head) <= HEAD_CHARS else (title, said)


def _asking(event: ChannelPost, facts: Facts) -> tuple[str, Words]:
    """Ask whether to let someone in; once that is answered, say the answer first."""
    asked = event.kind == "asked_in"
    said: Words = _they(event) if asked else _said(event).removesuffix(" Let them in?")
    if event.answer:
        return event.answer.removesuffix("."), said
    if asked:
        return f"Let {event.by or 'them'} in?", said
    return CARDS[event.kind][0], joined(facts.lead.mention, ": ", said) if facts.lead is not None else said


def _due(event: ChannelPost, facts: Facts) -> tuple[str, Words, str]:
    """Say that an update is due, and from which person; once posted, or the incident has ended, that it was due."""
    why = capital(event.sentence.removeprefix(f"{CARDS['due'][0]}: "))
    if _is_over(event, facts):
        return "A status update was due", why, "slate"
    who: Words = joined(facts.lead.mention, ": please post it. ") if facts.lead else "No one leads yet. "
    return CARDS["due"][0], joined(who, why), CARDS["due"][1]


def _is_over(event: ChannelPost, facts: Facts) -> bool:
    """Whether the update that a reminder asks for was posted, or the incident ended."""
    came = (one for one in facts.told if one.n > event.n and one.kind in UPDATED)
    return not facts.active or any(not (one.retracted or one.redacted) for one in came)


def _they(event: ChannelPost, did: str = "") -> str:
    """Say what the person named in the title did."""
    return f"They {event.sentence.removeprefix(did)}"


def _statement(event: ChannelPost) -> Card:
    """Say an update with everything it states, or a statement on its own.

    A next step without words says that there is none any more.
    """
    if not event.text:
        return Card(event.kind, "", _said(event))
    stated = tuple((label, step(one)) for label, one in event.stated)
    title = f"{STATED[event.kind]} from {event.by or 'Firekind'}"
    return Card(event.kind, title, step(event), tone="slate", sections=stated)


def _retyped(event: ChannelPost, news: RetypeNews, facts: Facts) -> Card:
    """Say from which type to which, why, and what that changed for people; a button shows the rest of long lists.

    Guests read a channel's messages, too: while one is in, people the type names are shown only behind that button.
    """
    sections: list[tuple[str, Words]] = [("Why", cut(event.text, WHY_CHARS))] if event.text else []
    buttons: list[Button] = []
    if news.changes is not None:
        told = news.nameless if facts.guests else news.changes
        lines = [cut(line, LINE_CHARS) for line in told[:LINES]]
        hidden = len(told) - len(lines)
        lines += [f"and {hidden} more"] if hidden else []
        sections.append(("What changes", "\n" + "\n".join(lines) if lines else UNCHANGED))
        if hidden or told != news.changes or any(len(line) > LINE_CHARS for line in told):
            buttons.append(Button("Show everything", "changes", _about(event, facts)))
    if news.back and facts.active:
        buttons.append(Button("Undo", "undo-retype", _about(event, facts)))
    title = f"{news.before} → {news.now}"
    text = f"{event.by or 'Firekind'} retyped it{' and stays out' if news.stays_out else ''}."
    return Card("retyped", title, text, sections=tuple(sections), buttons=tuple(buttons), tone=news.colour or "slate")


def _task(event: ChannelPost, task: TaskNow, facts: Facts) -> Card:
    """Say the current state of a task or follow-up, with what can be done while it is open."""
    title = f"{task.word.capitalize()} {task.n}"
    sections: tuple[tuple[str, Words], ...] = (("Owner", task.owner.mention if task.owner else "no one yet"),)
    sections += (("Due", task.due),) if task.due else ()
    ticket = _opening(task.ticket_url, f"Open {task.ticket}", verb="open-ticket")
    text = cut(task.text, WHY_CHARS)
    if task.state != "open":
        tone = "green" if task.state == "done" else "slate"
        return Card(event.kind, f"{title}: {task.state}", text, sections=sections, buttons=ticket, tone=tone)
    about = _about(task, facts)
    buttons = (Button("Done", "task-done", about), Button("Reassign", "task-reassign", about))
    opening = _opening(task.link, "Open the message")
    return Card(event.kind, title, text, sections=sections, buttons=(*buttons, *opening, *ticket), tone="blue")


def _evidence(event: ChannelPost, facts: Facts) -> Card:
    """Say what was measured, or that it could not be read, with a link to all of it; a picture goes in the thread."""
    whose = "could not be read" if event.unread else f"from {event.by or 'Firekind'}"
    title = f"Evidence {event.evidence} {whose}"
    text = event.sentence.removeprefix(f"added evidence {event.evidence}, ")
    label = "Open the flame graph" if event.pictured else "See why, or read it again" if event.unread else "Open"
    buttons = _opening(f"{facts.url}evidence/{event.evidence}/", label)
    return Card(event.kind, title, text, buttons=buttons, tone="orange" if event.unread else "teal")


def _said(event: ChannelPost) -> str:
    return f"{event.by} {event.sentence}" if event.by else capital(event.sentence)


def _asked(event: ChannelPost, facts: Facts) -> tuple[Button, ...]:
    """Return the buttons for what a message asks for: retry, post an update, choose who has a role, resolve."""
    if event.kind == "failed" and event.retry:
        about = f"{facts.codename}|{event.retry}"
        done = (Button("Mark as done", "by-hand", about),) if event.by_hand else ()
        return (Button("Retry", "retry", about, "" if done else "primary"), *done)
    if event.kind == "opening":
        is_over = any(one.kind in {"opening", "opened_up"} and one.n > event.n for one in facts.told)
        about = _about(event, facts)
        return () if is_over else (Button("Read and publish", "publish", about, "primary"),)
    if event.kind == "replay_asked":
        is_over = any(one.kind in {"replayed", "replay_over"} and one.n > event.n for one in facts.told)
        return () if is_over else tuple(Button(says, verb, facts.codename, style) for says, verb, style in GUESSES)
    if event.kind in ASKING:
        about = _about(event, facts)
        return () if event.answer else tuple(Button(says, verb, about, style) for says, verb, style in ANSWERS)
    verb, _, about = event.ask.partition("|")
    if verb not in ASKS or not facts.active or (verb == "fill" and about in dict(facts.roles)):
        return ()
    return (Button(ASKS[verb], verb, f"{facts.codename}|{about}" if about else facts.codename, "primary"),)


def _reminding(event: ChannelPost, facts: Facts) -> tuple[Button, ...]:
    if _is_over(event, facts):
        return ()
    update = Button(ASKS["update"], "update", facts.codename, "primary")
    return (update,) if facts.lead is not None else (update, Button("Take the lead", "take-lead", facts.codename))


def _about(one: ChannelPost | TaskNow, facts: Facts) -> str:
    return f"{facts.codename}|{one.borne or one.n}"


def _opening(url: str, label: str, *, verb: str = "open") -> tuple[Button, ...]:
    return (Button(label, verb, url),) if url.startswith(("https://", "http://")) else ()
