"""The words of our messages. Pure: marks stand for people, times and channels."""

from __future__ import annotations

from collections.abc import Sequence

from incidents.people.bidi import isolated, without
from workflows.planning.facts import Facts, Published, Room
from workflows.planning.observed import DELETED, ELSEWHERE
from workflows.planning.wording.card import Button, Card
from workflows.planning.wording.headline import PAGE, STATUS_WORDS
from workflows.planning.wording.marks import OUTLET, room

NO_MORE = "No more announcements will be posted for this incident."
ANOTHER = "Create a new channel; a retype creates one as well."
TOPIC_CHARS = 250  # Slack's limit for a topic


def topic(facts: Facts) -> str:
    """Say type, status and lead in one line of at most 250 characters; in a private channel also what it is about.

    Slack keeps every topic ever set as a line in the channel, which no one can take back once it becomes private.
    """
    lead = f"Lead: {without(facts.lead.name)}" if facts.lead else "No lead yet" if facts.active else "No lead"
    line = f"{facts.policy.name} · {STATUS_WORDS[facts.status]} · {lead}"
    line = f"{line} · {facts.title}" if facts.private else line
    return line if len(line) <= TOPIC_CHARS else f"{line[: TOPIC_CHARS - 1]}…"


def page_title(facts: Facts) -> str:
    """Return a page's title, readable for everyone who may be paged: nothing about what a private incident concerns."""
    return neutral_title(facts.codename) if facts.private else f"{facts.title} ({facts.codename})"


def neutral_title(codename: str) -> str:
    """Return the title for pages of a private incident."""
    return f"{codename} needs you"


def page_details(codename: str) -> str:
    """Return the text below a page's title: the same for every incident, as a pager never forgets what it is told."""
    return (
        f"You are being invited to the {codename} channel in Slack. If you cannot find it, open the link. Both say "
        "why you were paged."
    )


def ended_announcement(facts: Facts) -> Card:
    """What an announcement becomes once the type no longer asks for one: it says so, and no longer changes."""
    return Card(
        kind="announcement",
        title=f"{isolated(facts.policy.name)}: {isolated(facts.title)}",
        text=NO_MORE,
        link=facts.url,
        link_label=PAGE,
    )


def withdrawn_announcement() -> Card:
    """What an announcement becomes once the incident is private: nothing about what it concerned, or why."""
    return Card(kind="withdrawn", title="Announcement withdrawn", text=NO_MORE)


def withdrawn() -> Card:
    """What our messages become in a room the conversation left."""
    return Card(kind="withdrawn", title="", text="This message was withdrawn.")


def taken_back(what: str, *, did: str, done: str, by: str = "") -> Card:
    """What a message becomes when its entry is taken back: *Eve Ito retracted this message*."""
    text = f"{by} {did} this {what}." if by else f"This {what} was {done}."
    return Card(kind="withdrawn", title="", text=text)


def redacted() -> Card:
    """What a message becomes when the lead has redacted its words."""
    return Card(kind="withdrawn", title="", text="This message was redacted.")


GONE = (withdrawn_announcement(), withdrawn(), redacted())  # how such messages read when their words are gone


def farewell() -> Card:
    """The one neutral line in a room the conversation left."""
    return Card(kind="farewell", title="", text="This conversation has ended here. The channel is being archived.")


def handover(facts: Facts) -> Card:
    """The first message in a successor: where everything else is. It changes only when that is gone."""
    if facts.room_before.gone:
        return Card(
            kind="handover",
            title="The conversation continues here",
            text="The previous channel is gone. Everything recorded is on the timeline.",
            link=facts.url,
            link_label=PAGE,
        )
    return Card(
        kind="handover",
        title="The conversation continues here, in private",
        text=("Earlier messages are in ", room(facts.room_before.number), " and on the timeline."),
        context=("People who saw the old channel have already read it. Messages that others posted stay there.",),
        link=facts.url,
        link_label=PAGE,
    )


def channel_gone(facts: Facts) -> Card:
    """Tell the lead that the channel is gone: nothing about what the incident concerns."""
    return Card(
        kind="warned",
        title=f"{facts.codename} has no channel",
        text=gone(facts),
        link=facts.url,
        link_label=PAGE,
        buttons=(Button("Create a new channel", "new-channel", facts.codename, "primary"),),
        tone="orange",
    )


def nobody_invited(facts: Facts) -> Card:
    """Tell the lead that no one could be invited to the private channel: nothing about what it concerns."""
    return Card(
        kind="warned",
        title=f"{facts.codename}: no one could be invited",
        text=empty(facts),
        context=("You got this directly because no one is in the private channel.",),
        link=facts.url,
        link_label=PAGE,
        tone="red",
    )


def empty(facts: Facts) -> str:
    """Say that no one is in the private channel, why, and what to do about it."""
    shown = facts.room_of(facts.room).shown
    says = f"No one could be invited to #{shown}, so no one can read it. {facts.uninvited}"
    return f"{says} Once apps may invite people, press Mark as done next to this on the incident page."


def gone(facts: Facts) -> str:
    """Say that the incident's channel is gone, as far as that is known, and how to get another."""
    room = facts.room_of(facts.room)
    if room.gone == DELETED:
        return f"#{room.shown} was deleted in Slack. {ANOTHER}"
    if room.gone == ELSEWHERE:
        says = f"#{room.shown} is in a Slack workspace that is no longer connected."
        return f"{says} {ANOTHER} Or connect that workspace again."
    return f"#{room.shown} was deleted in Slack, or Firekind is no longer in it. /invite it again, or: {ANOTHER}"


def outside(room: Room) -> str:
    """Say that we are no longer in the current channel, and what to do about it."""
    says = f"Firekind is no longer in #{room.shown}, so it can't post or invite anyone there."
    return f"{says} /invite it again, and it catches up."


def outside_left(room: Room) -> str:
    """Say what is left undone in a former channel because we are no longer in it, and how it can be done."""
    says = f"Firekind is no longer in #{room.shown}, so it can't clear the topic or archive the channel."
    return f"{says} /invite it again, or do both by hand."


def left_elsewhere(where: Sequence[str]) -> str:
    """Say where our words can be read in a workspace in which nothing can be withdrawn now."""
    return (
        f"What Firekind said in {' and '.join(where)} can still be read in a Slack workspace that is no longer "
        "connected. Delete it there by hand, or connect that workspace again, and it is withdrawn."
    )


def summary(published: Published) -> Card:
    """What a private incident says in public: exactly the words that two people confirmed."""
    link = published.url
    return Card("summary", title="Summary", text=published.text, link=link, link_label="Read it in Firekind")


def notice(published: Published) -> Card:
    """Say once in the announcement channel that there is a summary and where; nothing in it leads to anything else."""
    text = ("Everyone can read it in ", room(OUTLET), ".")
    link = published.url
    return Card("notice", "A summary of a private incident was published", text, link=link, link_label="Read it here")
