"""The chat port on Slack: each method does one job with as few calls as possible."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final

from incidents.people.person_matching import ChatProfile
from integrations.slack.adapter import cards, channel_state, directory, files, groups, inviting, named_channels
from integrations.slack.adapter.identity import Identity
from integrations.slack.adapter.named_channels import NamedChannels
from integrations.slack.adapter.wire import Wire
from integrations.slack.protocol import error_messages
from integrations.slack.protocol.limits import MAX_TOPIC
from integrations.slack.protocol.mrkdwn import clip, escape, reads_alike
from workflows.chat_port import Channel, Invited, Posted, Remains, UserGroup
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

EVENT_TYPE: Final = "firekind"
PAGE: Final = 200
SKEW_S: Final = 120  # how far Slack's clock and ours may differ


@dataclass(frozen=True, slots=True)
class _Marked:
    """A message to look for: by its own marks or by a shared one, and within a time range."""

    marks: frozenset[str]
    alike: str
    but_not: frozenset[str]
    oldest: str
    latest: str | None


class SlackChat:
    """Slack as the chat. Satisfies ``workflows.chat_port.Chat``."""

    def __init__(self, wire: Wire, *, identity: Identity, admin: Wire | None = None) -> None:
        self.wire = wire
        self.identity = identity
        self.admin = admin  # with an organisation admin's token, if there is one
        self.named = NamedChannels(wire)

    def open_channel(self, name: str, *, private: bool) -> Channel:
        """Create a channel. Raises ``VendorError(code="name_taken")`` for a name in use."""
        made = self.wire.call("conversations.create", name=name, is_private=private)["channel"]
        return self._channel(made)

    def find_channel(self, name: str, *, since: datetime, everywhere: bool = False) -> Channel | None:
        """Find a channel that has or had this name and that we created after ``since``.

        We are in it, or it may be ``everywhere``: then public channels that we are no longer in are listed, too, which
        takes a call for each thousand channels of the workspace.
        """
        found = (one for one in self._made(since, everywhere=everywhere) if name in channel_state.names(one))
        return next(map(self._channel, found), None)

    def channels_made(self, *, since: datetime) -> Sequence[Channel]:
        """List the channels that we created after ``since``: public ones, and private ones that we are in."""
        made = {str(one["id"]): self._channel(one) for one in self._made(since, everywhere=True)}
        return list(made.values())

    def entered(self) -> Sequence[Channel]:
        """List the channels that we are in."""
        return [self._channel(one) for one in self.named.ours()]

    def _made(self, since: datetime, *, everywhere: bool) -> Iterator[Mapping[str, Any]]:
        after = since.timestamp() - SKEW_S
        for channel in chain(self.named.ours(), self.named.listed() if everywhere else ()):
            if channel.get("creator") == self.identity.bot_user_id and (channel.get("created") or 0) >= after:
                yield channel

    def invite(self, channel_id: str, people: Sequence[str]) -> Invited:
        """Invite at most 100 people; the result names those who cannot be invited, and the others join."""
        return inviting.invite(self.wire, channel_id, people)

    def members(self, channel_id: str) -> frozenset[str]:
        """Return the ids of everyone in the channel."""
        pages = self.wire.listed("conversations.members", channel=channel_id, limit=999)
        return frozenset(one for page in pages for one in page["members"])

    def has_topic(self, channel_id: str, text: str) -> bool:
        """Return whether the topic equals a text, allowing for how Slack rewrites it."""
        channel = self.wire.call("conversations.info", channel=channel_id)["channel"]
        return reads_alike((channel.get("topic") or {}).get("value") or "", _topic(text))

    def set_topic(self, channel_id: str, text: str) -> None:
        """Set the topic, cut to Slack's limit; the caller has compared it first. Slack reads it like a message."""
        self.wire.call("conversations.setTopic", channel=channel_id, topic=_topic(text))

    def add_bookmark(self, channel_id: str, *, title: str, link: str) -> str:
        """Add a link to the channel's bookmarks bar and return its id."""
        answer = self.wire.call("bookmarks.add", channel_id=channel_id, title=title, type="link", link=link)
        return str(answer["bookmark"]["id"])

    def find_bookmark(self, channel_id: str, *, link: str) -> str | None:
        """Find our bookmark by its link."""
        marks = self.wire.call("bookmarks.list", channel_id=channel_id)["bookmarks"]
        return next((str(one["id"]) for one in marks if one.get("link") == link), None)

    def edit_bookmark(self, channel_id: str, bookmark_id: str, *, title: str, link: str) -> None:
        """Change a bookmark."""
        self.wire.call("bookmarks.edit", channel_id=channel_id, bookmark_id=bookmark_id, title=title, link=link)

    def remove_bookmark(self, channel_id: str, bookmark_id: str) -> None:
        """Remove a bookmark; one that is already gone is fine."""
        with _fine("not_found", "bookmark_not_found"):
            self.wire.call("bookmarks.remove", channel_id=channel_id, bookmark_id=bookmark_id)

    def post(self, channel: str, card: Card, *, mark: str, alike: str = "") -> Posted:
        """Post a card in a channel (an id or a name), with marks by which it can be found.

        A name needs no look-up, because Slack accepts it here and returns the id.
        """
        try:
            answer = self._post(channel, card, mark, alike)
        except VendorError as error:
            if named_channels.ID.fullmatch(channel) or error.code not in {"not_in_channel", "channel_not_found"}:
                raise
            answer = self._post(self.named.come_in(channel), card, mark, alike)
        posted = self._posted(str(answer["channel"]), str(answer["ts"]))
        self.named.learn(channel, posted.channel_id)
        return posted

    def _post(self, channel: str, card: Card, mark: str, alike: str = "") -> dict[str, Any]:
        # Anyone in the workspace can read metadata, but the marks mean nothing by themselves.
        payload = {"mark": mark, "alike": alike} if alike else {"mark": mark}
        metadata = {"event_type": EVENT_TYPE, "event_payload": payload}
        return self.wire.call(
            "chat.postMessage",
            channel=channel if named_channels.ID.fullmatch(channel) else f"#{channel.lstrip('#')}",
            metadata=metadata,
            unfurl_links=False,
            unfurl_media=False,
            **cards.message(card),
        )

    def find_post(
        self,
        channel: str,
        *,
        marks: Collection[str],
        since: datetime,
        until: datetime | None = None,
        alike: str = "",
        but_not: Collection[str] = (),
        goes_on: bool = False,
    ) -> Posted | None:
        """Find our message by its own marks, posted between ``since`` and ``until``.

        A message that shares ``alike`` also matches, unless it was posted at one of the times in ``but_not``. An
        archived channel whose messages Slack does not show raises ``VendorError``. With ``goes_on`` it is skipped if
        another channel with the name could be read.
        """
        oldest, latest = f"{since.timestamp() - SKEW_S:.6f}", f"{until.timestamp():.6f}" if until else None
        wanted = _Marked(frozenset(marks), alike, frozenset(but_not), oldest, latest)
        if named_channels.ID.fullmatch(channel):
            return self._marked(channel, wanted)
        return self._marked_by_name(channel.lstrip("#"), wanted, goes_on=goes_on)

    def _marked_by_name(self, name: str, wanted: _Marked, *, goes_on: bool) -> Posted | None:
        unread, was_read = None, False
        for channel_id in self.named.ever_named(name):
            try:
                if found := self._marked_within(channel_id, wanted):
                    return found
                was_read = True
            except VendorError as error:
                if error.code != "is_archived":
                    raise
                unread = error
        if unread is None or (goes_on and was_read):
            return None
        if not was_read:
            raise unread
        raise VendorError(error_messages.words("was_archived"), code="was_archived", method=unread.method)

    def _marked_within(self, channel_id: str, wanted: _Marked) -> Posted | None:
        """Look in a channel, joining it first if needed; Slack refuses to let us join an archived one."""
        try:
            return self._marked(channel_id, wanted)
        except VendorError as error:
            if error.code != "not_in_channel":
                raise
        self.wire.call("conversations.join", channel=channel_id)
        return self._marked(channel_id, wanted)

    def _marked(self, channel_id: str, wanted: _Marked) -> Posted | None:
        instead = None
        for message in self._messages(channel_id, oldest=wanted.oldest, latest=wanted.latest):
            mark, alike = _marks(message)
            if mark in wanted.marks:
                return self._posted(channel_id, str(message["ts"]))
            if instead is None and alike and alike == wanted.alike and str(message["ts"]) not in wanted.but_not:
                instead = self._posted(channel_id, str(message["ts"]))
        return instead

    def edit_post(self, channel_id: str, ts: str, card: Card) -> None:
        """Edit one of our messages; one that was deleted is fine. Its mark stays.

        If the workspace no longer allows editing it, a message that is to be withdrawn is deleted instead.
        """
        try:
            with _fine("message_not_found"):
                self.wire.call("chat.update", channel=channel_id, ts=ts, **cards.message(card))
        except VendorError as refused:
            if card.kind != "withdrawn" or refused.code != "edit_window_closed":
                raise
            with _fine("message_not_found"):
                self.wire.call("chat.delete", channel=channel_id, ts=ts)

    def pin(self, channel_id: str, ts: str) -> None:
        """Pin a message; one that is already pinned is fine."""
        with _fine("already_pinned"):
            self.wire.call("pins.add", channel=channel_id, timestamp=ts)

    def archive(self, channel_id: str) -> None:
        """Archive a channel; one that is already archived is fine."""
        with _fine("already_archived"):
            self.wire.call("conversations.archive", channel=channel_id)

    @property
    def self_id(self) -> str:
        """The app's own user id."""
        return self.identity.bot_user_id

    @property
    def workspace_id(self) -> str:
        """The id of the token's workspace, from Slack, because the settings may be outdated."""
        return self.identity.ask().team_id

    @property
    def is_introduced(self) -> bool:
        """Whether Slack has told us that workspace."""
        return self.identity.is_known

    @property
    def converts(self) -> bool:
        """Whether a public channel can be made private, which requires an organisation and its admin's token."""
        return self.admin is not None

    def close(self, channel_id: str) -> Channel:
        """Make a public channel private, and return it as Slack then shows it."""
        return self._channel(channel_state.close(self.wire, self.admin, channel_id))

    def enter(self, channel_id: str) -> None:
        """Join a public channel; joining twice is fine."""
        self.wire.call("conversations.join", channel=channel_id)

    def look(self, channel_id: str) -> Channel | None:
        """Return a channel's state; None when Slack shows us none with that id."""
        found = channel_state.channel(self.wire, channel_id)
        return self._channel(found) if found else None

    def is_open(self, channel: str) -> bool:
        """Return whether we may post in a channel (an id or a name), as far as Slack shows without posting."""
        channel_id = self.named.id_of(channel)
        found = channel_state.channel(self.wire, channel_id) if channel_id else None
        return found is not None and channel_state.takes_posts(found)

    def is_read_outside(self, channel: str) -> bool:
        """Return whether people of another company are in a channel (an id or a name), or invited to it."""
        channel_id = self.named.id_of(channel)
        found = (channel_state.channel(self.wire, channel_id) if channel_id else None) or {}
        return bool(found.get("is_ext_shared") or found.get("is_pending_ext_shared"))

    def room(self, *names: str) -> Channel | None:
        """Find a channel we are in by the first of these names that one has, no matter who created it."""
        ours = {one["name"]: one for one in self.named.ours() if one["name"] in names}
        return next((self._channel(ours[name]) for name in names if name in ours), None)

    def is_anothers(self, channel_id: str) -> bool:
        """Return whether another Firekind posted in a channel; its messages have marks, too."""
        marked = (one for one in self._messages(channel_id, oldest="0") if _marks(one)[0])
        return any(one.get("user") != self.self_id for one in marked)

    def is_posted(self, channel_id: str, ts: str) -> bool:
        """Return whether a message still exists."""
        return channel_state.is_posted(self.wire, channel_id, ts)

    def says(self, channel_id: str, ts: str, card: Card) -> bool:
        """Return whether one of our messages has the notification text of this card."""
        shown = channel_state.shown(self.wire, channel_id, ts)
        return shown is not None and reads_alike(shown, cards.notification(card))

    def shown(self, channel_id: str, ts: str) -> str | None:
        """Return the notification text of one of our messages; None when it is gone."""
        return channel_state.shown(self.wire, channel_id, ts)

    def remains(self, channel_id: str) -> Remains:
        """Count what others posted in a channel."""
        return channel_state.remains(self.wire, channel_id, ours=self.identity.bot_user_id)

    def tell(self, person: str, card: Card, *, mark: str) -> Posted:
        """Send a card to one person as a direct message."""
        try:
            answer = self._post(person, card, mark)
        except VendorError as error:
            if error.code != "channel_not_found":  # Slack's answer for a person the workspace does not have
                raise
            code = "user_not_found"
            raise VendorError(error_messages.words(code), code=code, method=error.method) from error
        return Posted(str(answer["channel"]), str(answer["ts"]))

    def upload(self, name: str, content: bytes, *, alt: str) -> str:
        """Upload a file, with a description for people who cannot see it. No one sees the file until it is shared."""
        return files.upload(self.wire, name=name, content=content, alt=alt)

    def share(self, file_id: str, *, title: str, below: Posted) -> None:
        """Show an uploaded file in a message's thread."""
        files.share(self.wire, file_id, title=title, channel_id=below.channel_id, thread_ts=below.ts)

    def is_shared(self, file_id: str, *, below: Posted) -> bool:
        """Return whether one of our files is shown in a message's channel."""
        return files.is_shared(self.wire, file_id, channel_id=below.channel_id)

    def delete_file(self, file_id: str) -> None:
        """Delete one of our files; one that is already deleted is fine."""
        files.delete(self.wire, file_id)

    def groups(self) -> Sequence[UserGroup]:
        """Read every user group with its members, disabled ones included, in one call."""
        return directory.groups(self.wire)

    def set_group(self, chat_id: str, people: Sequence[str]) -> None:
        """Set the complete list of a user group's members; there must be at least one."""
        groups.set_members(self.wire, chat_id, people)

    def people(self) -> Sequence[ChatProfile]:
        """Read everyone in the workspace, page by page."""
        return directory.people(self.wire, team_id=self.workspace_id)

    def _messages(self, channel_id: str, *, oldest: str, latest: str | None = None) -> Iterator[dict[str, Any]]:
        method = "conversations.history"
        for page in self.wire.listed(
            method, channel=channel_id, oldest=oldest, latest=latest, limit=PAGE, include_all_metadata=True
        ):
            yield from page["messages"]

    def _channel(self, channel: Mapping[str, Any]) -> Channel:
        channel_id = str(channel["id"])
        url = self.identity.channel_url(channel_id)
        return Channel(
            id=channel_id,
            name=str(channel["name"]),
            private=bool(channel.get("is_private")),
            url=url,
            archived=bool(channel.get("is_archived")),
            inside=bool(channel.get("is_member")),
        )

    def _posted(self, channel_id: str, ts: str) -> Posted:
        return Posted(channel_id=channel_id, ts=ts, url=self.identity.message_url(channel_id, ts))


@contextmanager
def _fine(*codes: str) -> Iterator[None]:
    """Treat an error that means *it already is* as success."""
    try:
        yield
    except VendorError as error:
        if error.code not in codes:
            raise


def _marks(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return a message's own mark and its shared mark; both are empty for a message that is not ours."""
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return "", ""
    payload = metadata.get("event_payload") or {}
    mark, alike = (one if isinstance(one, str) else "" for one in (payload.get("mark"), payload.get("alike")))
    return mark, alike


def _topic(text: str) -> str:
    return clip(escape(text), MAX_TOPIC)
