"""What our messages say. Pure: marks stand for people, times and channels."""

from __future__ import annotations

from workflows.planning.facts import ChannelPost, Facts, Published
from workflows.planning.wording.card import Button, Card
from workflows.planning.wording.headline import PAGE, STATUS_WORDS
from workflows.planning.wording.marks import OUTLET, Words, joined, room

TOPIC_CHARS = 250  # Slack's limit for a topic
ASKS = {"update": "Post an update", "resolve": "Resolve the incident", "fill": "Choose someone"}
ANSWERS = (("Let in", "let-in"), ("Not now", "turn-away"))
ASKING = ("asked_in", "offered")  # the kinds of entries that ask whether to let someone in
BY_HAND = "manual action required"
LINKS = {"page": "Open the page", "alert": "Open the alert"}
TITLES = {"glass": "Someone broke glass", "warned": "Warning", "offered": "Let them in?"}


def topic(facts: Facts) -> str:
    """Say type, status and lead in one line of at most 250 characters; in private also what it is about.

    Slack keeps every topic that was ever set as a line of its own, which nobody can take back once it turns private.
    """
    lead = f"Lead: {facts.lead.name}" if facts.lead else "No lead yet"
    line = f"{facts.policy.name} · {STATUS_WORDS[facts.status]} · {lead}"
    line = f"{line} · {facts.title}" if facts.private else line
    return line if len(line) <= TOPIC_CHARS else f"{line[: TOPIC_CHARS - 1]}…"


def page_title(facts: Facts) -> str:
    """What a page is called where everyone who may be paged reads it: nothing that a private incident is about."""
    return neutral_title(facts.codename) if facts.private else f"{facts.title} ({facts.codename})"


def neutral_title(codename: str) -> str:
    """What the page of a private incident is called."""
    return f"{codename} needs you"


def page_details(codename: str) -> str:
    """What a page says below its title: the same of every incident, as a pager never forgets what it was told."""
    return (
        f"You are being invited to the {codename} channel in Slack. If you cannot find it, open the link. Both say "
        "why you were paged."
    )


def ended_announcement(facts: Facts) -> Card:
    """What an announcement becomes once the type asks for none: it says so, and stays still."""
    return Card(
        kind="announcement",
        title=f"{facts.policy.name}: {facts.title}",
        text="No more announcements will be posted for this incident.",
        link=facts.url,
        link_label=PAGE,
    )


def withdrawn_announcement() -> Card:
    """What an announcement becomes once the incident is private: nothing that says what it was about."""
    return Card(kind="withdrawn", title="", text="This is being handled elsewhere. Nothing more will be posted here.")


def withdrawn() -> Card:
    """What our messages become in a room the conversation left."""
    return Card(kind="withdrawn", title="", text="This message was withdrawn.")


def redacted() -> Card:
    """What a message becomes of which the lead took the words out."""
    return Card(kind="withdrawn", title="", text="This message was redacted.")


def farewell() -> Card:
    """The one neutral line in a room the conversation left."""
    return Card(kind="farewell", title="", text="This conversation has ended here. The channel is being archived.")


def handover(facts: Facts) -> Card:
    """The first message in a private successor: where everything else is. It holds nothing that changes later."""
    return Card(
        kind="handover",
        title="The conversation continues here, in private",
        text=("Earlier messages are in ", room(facts.room - 1), ", which is being archived, and on the timeline."),
        context=("People who saw the old channel have already read it. Messages that others posted stay there.",),
        link=facts.url,
        link_label=PAGE,
    )


def summary(published: Published) -> Card:
    """What a private incident says in public: the words that two people confirmed, and none besides."""
    link = published.url
    return Card("summary", title="Summary", text=published.text, link=link, link_label="Read it in Firekind")


def notice(published: Published) -> Card:
    """Say once, where incidents are announced, that there is a summary and where: nothing that leads past it."""
    text = ("Everyone can read it in ", room(OUTLET), ".")
    link = published.url
    return Card("notice", "A summary of a private incident was published", text, link=link, link_label="Read it here")


def told(event: ChannelPost, facts: Facts) -> Card:
    """Return the message for an event in the channel."""
    if event.redacted or event.retracted:
        return redacted() if event.redacted else withdrawn()
    if event.kind == "updated":
        return Card(kind="updated", title=f"Update from {event.by}", text=event.text)
    if event.evidence:
        return _measured(event, facts)
    if event.finding:
        return _judged(event, facts)
    sentence: Words = f"{event.by} {event.sentence}" if event.by else event.sentence
    if event.kind == "offered" and facts.lead is not None and not event.answer:
        sentence = joined(facts.lead.mention, ": ", sentence)
    sentence = joined(sentence, f"\n{event.answer}" if event.answer else "")
    if event.by_hand:
        text = joined(sentence, f"\n{event.by_hand}")
        return Card(event.kind, title=BY_HAND.capitalize(), text=text, buttons=_asked(event, facts))
    label = LINKS.get(event.kind, "Open") if event.link else ""
    title = TITLES.get(event.kind, "")
    return Card(event.kind, title, text=sentence, link=event.link, link_label=label, buttons=_asked(event, facts))


def by_hand(event: ChannelPost, facts: Facts) -> Card:
    """Tell one person what waits for their hand, where no channel can: nothing that says what it is about."""
    return Card(
        kind="by_hand",
        title=f"{facts.codename}: {BY_HAND}",
        text=event.by_hand,
        context=("You got this directly because there is no private channel yet. Nothing was posted anywhere else.",),
        link=facts.url,
        link_label=PAGE,
        buttons=_asked(event, facts),
    )


def _asked(event: ChannelPost, facts: Facts) -> tuple[Button, ...]:
    """Offer what a message asks for: trying again, an update, choosing who has a role, the end."""
    if event.kind == "failed" and event.retry:
        about = f"{facts.codename}|{event.retry}"
        done = (Button("Mark as done", "by-hand", about),) if event.by_hand else ()
        return (Button("Retry", "retry", about), *done)
    if event.kind in ASKING:
        about = f"{facts.codename}|{event.n}"
        return () if event.answer else tuple(Button(says, verb, about) for says, verb in ANSWERS)
    verb, _, about = ("update" if event.kind == "due" else event.ask).partition("|")
    if verb not in ASKS:
        return ()
    return (Button(ASKS[verb], verb, f"{facts.codename}|{about}" if about else facts.codename),)


def _measured(event: ChannelPost, facts: Facts) -> Card:
    """Tell what was measured, with the way to all of it; its picture comes below."""
    sentence = f"{event.by or 'Firekind'} {event.sentence}"
    label = "Open the flame graph" if event.pictured else "Open"
    return Card("evidence", title="", text=sentence, link=f"{facts.url}evidence/{event.evidence}/", link_label=label)


def _judged(event: ChannelPost, facts: Facts) -> Card:
    """Tell a verdict, with the way to every round."""
    sentence = f"{event.by} {event.sentence}" if event.by else event.sentence
    link = f"{facts.url}findings/#finding-{event.finding}"
    return Card("judged", title="", text=sentence, link=link, link_label="All findings")
