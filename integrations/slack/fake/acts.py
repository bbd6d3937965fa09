"""What people do in their Slack client. Each act changes the workspace and queues the events that Slack would send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from integrations.slack.fake import changes, entities
from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer, NotPossible

from .interactions import Interactions
from .workspace import Channel, File, Json, Message, Person


class Acts(Interactions):
    """The acts of people. People and channels are named by id, handle or name.

    An act that a client would not allow raises `NotPossible` with words to show.
    """

    def say(self, user: str, channel: str, text: str, *, thread_ts: str = "") -> str:
        """Send a message and return its timestamp."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            if where.read_only and not person.is_admin:
                raise NotPossible(f"Only admins may post in #{where.name}")
            if self._is_closed_tab(where):
                raise NotPossible("Sending messages to this app has been turned off")
            if thread_ts and thread_ts not in where.messages:
                raise NotPossible("That thread is gone")
            typed = entities.in_message(entities.encode(self._slack.workspace, text, by=person.id))
            message = changes.post(self._slack, where, person.id, text=typed, thread_ts=thread_ts)
            changes.tell_links(self._slack, where, message)
            return self._done(message.ts)

    def _is_closed_tab(self, where: Channel) -> bool:
        """Return whether this is the app's messages tab and people may not write there."""
        home = self._slack.app_home
        open_tab = home.get("messages_tab_enabled") and not home.get("messages_tab_read_only_enabled")
        return where.kind == "im" and self._slack.bot.id in where.members and not open_tab

    def upload(self, user: str, name: str, content: bytes) -> str:
        """Upload a file, as a person does in a modal; return its id."""
        with self._slack.lock:
            return self._done(self._uploaded(self._person(user), name, content).id)

    def share(self, user: str, channel: str, name: str, content: bytes, *, text: str = "", thread_ts: str = "") -> str:
        """Send a file in a channel and return the message's timestamp."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            file = self._uploaded(person, name, content)
            file.channels = [where.id]
            about = {"subtype": "file_share", "thread_ts": thread_ts}
            message = changes.share(self._slack, where, person.id, [file], text=text, **about)
            self._slack.emit("file_shared", seen_in=where, file_id=file.id, user_id=person.id, channel_id=where.id)
            return self._done(message.ts)

    def _uploaded(self, person: Person, name: str, content: bytes) -> File:
        if not content:
            raise NotPossible("That file is empty")
        file = File(self._slack.next_id("F"), name, len(content), person.id, "complete", content=content)
        file.created = int(self._slack.now())
        self._slack.workspace.files[file.id] = file
        return file

    def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Change one of your own messages."""
        with self._slack.lock:
            person, where, message = self._own(user, channel, ts)
            typed = entities.in_message(entities.encode(self._slack.workspace, text, by=person.id))
            changes.edit(self._slack, where, message, person.id, text=typed)
            self._done()

    def delete(self, user: str, channel: str, ts: str) -> None:
        """Delete one of your own messages; admins may delete any."""
        with self._slack.lock:
            person, where, message = self._at(user, channel, ts)
            if message.user != person.id and not person.is_admin:
                raise NotPossible("Only its author can delete a message")
            changes.delete(self._slack, where, message)
            self._done()

    def react(self, user: str, channel: str, ts: str, name: str) -> None:
        """React to a message; reacting again changes nothing."""
        with self._slack.lock:
            person, where, message = self._at(user, channel, ts)
            name = name.strip(":")
            if person.id not in message.reactions.get(name, ()):
                changes.react(self._slack, where, message, person.id, name)
            self._done()

    def unreact(self, user: str, channel: str, ts: str, name: str) -> None:
        """Remove one of your own reactions."""
        with self._slack.lock:
            person, where, message = self._at(user, channel, ts)
            name = name.strip(":")
            if person.id in message.reactions.get(name, ()):
                changes.unreact(self._slack, where, message, person.id, name)
            self._done()

    def pin(self, user: str, channel: str, ts: str) -> None:
        """Pin a message."""
        with self._slack.lock:
            person, where, message = self._at(user, channel, ts)
            if ts not in where.pins:
                changes.pin(self._slack, where, message, person.id)
            self._done()

    def unpin(self, user: str, channel: str, ts: str) -> None:
        """Remove a pin."""
        with self._slack.lock:
            person, where, message = self._at(user, channel, ts)
            if ts in where.pins:
                changes.unpin(self._slack, where, message, person.id)
            self._done()

    def read(self, user: str, channel: str) -> None:
        """Mark a channel as read by a person."""
        with self._slack.lock:
            where = self._channel(channel)
            where.read[self._person(user).id] = self._slack.last_ts
            self._done()

    def join(self, user: str, channel: str) -> None:
        """Join a public channel."""
        with self._slack.lock:
            person, where = self._person(user), self._open(channel)
            if where.is_private:
                raise NotPossible("A private channel can only be joined by invitation")
            if person.id not in where.members:
                changes.join(self._slack, where, person.id)
            self._done()

    def leave(self, user: str, channel: str) -> None:
        """Leave a channel."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            changes.leave(self._slack, where, person.id)
            self._done()

    def invite(self, user: str, channel: str, who: Iterable[str]) -> None:
        """Invite people to a channel; those already in it stay."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            for other in [self._person(name) for name in who]:
                if other.id not in where.members:
                    changes.join(self._slack, where, other.id, inviter=person.id)
            self._done()

    def kick(self, user: str, channel: str, who: str) -> None:
        """Remove a person from a channel."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            other = self._person(who)
            if other.id in where.members:
                changes.leave(self._slack, where, other.id, kicked_by=person.id)
            self._done()

    def set_topic(self, user: str, channel: str, topic: str) -> None:
        """Change the topic."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            changes.set_topic(self._slack, where, person.id, topic)
            self._done()

    def rename(self, user: str, channel: str, name: str) -> None:
        """Rename a channel."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            changes.rename(self._slack, where, person.id, self._free(name))
            self._done()

    def archive(self, user: str, channel: str) -> None:
        """Archive a channel."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            changes.archive(self._slack, where, person.id)
            self._done()

    def unarchive(self, user: str, channel: str) -> None:
        """Unarchive a channel, which people can do and bots cannot."""
        with self._slack.lock:
            person, where = self._person(user), self._channel(channel)
            if where.is_archived:
                changes.unarchive(self._slack, where, person.id)
            self._done()

    def delete_channel(self, user: str, channel: str) -> None:
        """Delete a channel for good, as owners and admins can."""
        with self._slack.lock:
            person, where = self._person(user), self._channel(channel)
            if not (person.is_admin or person.is_owner) or where.is_general or where.is_direct:
                raise NotPossible(f"You can't delete #{where.name}")
            changes.delete_channel(self._slack, where)
            self._done()

    def create_channel(self, user: str, name: str, *, is_private: bool = False) -> Channel:
        """Create a channel."""
        with self._slack.lock:
            person, free = self._person(user), self._free(name)
            made = changes.create_channel(self._slack, free, person.id, is_private=is_private)
            self._done()
            return made

    def convert(self, user: str, channel: str, *, is_private: bool) -> None:
        """Make a channel private or public, as its owner can in the client."""
        with self._slack.lock:
            changes.convert(self._slack, self._open(channel), self._person(user).id, is_private=is_private)
            self._done()

    def open_home(self, user: str) -> None:
        """Open the app's Home."""
        with self._slack.lock:
            person = self._person(user)
            direct = changes.direct(self._slack, [person.id, self._slack.bot.id])
            home = self._slack.home(person.id)
            event: Json = {"user": person.id, "channel": direct.id, "tab": "home", **({"view": home} if home else {})}
            self._slack.emit("app_home_opened", **event)
            self._done()

    def set_group(self, handle: str, members: Iterable[str], *, by: str = "") -> None:
        """Replace the members of a user group."""
        with self._slack.lock:
            ids = [self._person(member).id for member in members]
            changes.set_members(self._slack, self._slack.group(handle), ids, self._person(by).id if by else "")
            self._done()

    def deactivate(self, user: str) -> None:
        """Deactivate an account; Slack removes the person from channels and groups."""
        with self._slack.lock:
            person = self._person(user)
            person.deleted = True
            for channel in self._slack.workspace.channels.values():
                if person.id in channel.members:
                    channel.members.remove(person.id)
            for group in self._slack.workspace.groups.values():
                if person.id in group.members:
                    group.members.remove(person.id)
            self._slack.emit("user_change", user=shapes.person(person))
            self._done()

    def reactivate(self, user: str) -> None:
        """Reactivate an account; the person is not yet in any channel or group."""
        with self._slack.lock:
            person = self._slack.person(user)
            person.deleted = False
            self._slack.emit("user_change", user=shapes.person(person))
            self._done()

    def arrive(self, handle: str, **traits: Any) -> Person:
        """Add a new person to the workspace."""
        with self._slack.lock:
            person = self._slack.add_person(handle, **traits)
            self._slack.emit("team_join", user=shapes.person(person))
            self._done()
            return person

    # What these need

    def _at(self, user: str, channel: str, ts: str) -> tuple[Person, Channel, Message]:
        person, where = self._in(user, channel)
        message = where.messages.get(ts)
        if message is None:
            raise NotPossible("That message is gone")
        return person, where, message

    def _own(self, user: str, channel: str, ts: str) -> tuple[Person, Channel, Message]:
        person, where, message = self._at(user, channel, ts)
        if message.user != person.id or message.is_system:
            raise NotPossible("Only its author can change a message")
        return person, where, message

    def _free(self, name: str) -> str:
        try:
            return guards.free_name(self._slack, name)
        except ErrorAnswer as refusal:
            raise NotPossible(f"#{name} cannot be the name: {refusal.code.replace('_', ' ')}") from None
