"""`manage.py restored`: the database was restored, and neither the web nor a worker is running yet."""

from __future__ import annotations

from typing import Any, Final

from django.core.management.base import BaseCommand
from django.utils import timezone

from incidents.claiming.shared_clock import clock
from incidents.people import person_matching
from workflows import ports
from workflows.channels import closed_rooms, forgotten_channels, membership
from workflows.channels.closed_rooms import ClosedRoom
from workflows.chat_port import Channel, Chat
from workflows.effects import restoring
from workflows.paging import forgotten
from workflows.ports import VendorError
from workflows.reconcile import reconcile, sweep
from workflows.usergroups import groups, sync
from workflows.usergroups.history import Look

UNSEEN: Final = (
    "Slack is not connected, so no one knows which incidents have turned private since. Connect it and run this again."
)
AGAIN: Final = "Some channels could not be checked in Slack. Run this again later."
NONE: Final = "Every channel of a public incident is open in Slack, so none has turned private since."
UNREAD: Final = (
    "Slack did not say who is in the channels of {} private incidents. Anyone who was removed from one since can still "
    "read it here."
)
PAGES: Final = (
    "These pages are open in PagerDuty but unknown here, so Firekind won't resolve them. Resolve them there once no "
    "one needs them."
)
ALERTS: Final = (
    "These were opened in PagerDuty after that moment and match a rule. Any incident they declared is lost here and "
    "won't be declared again: make sure someone responds, or declare one."
)
UNASKED: Final = "PagerDuty could not be checked for pages opened since. Run this again later."
CHANNELS: Final = (
    "Firekind created these channels in Slack after that moment, but they are unknown here. If people still respond "
    "there, declare their incidents again. Archive the channels once no one needs them."
)
GROUPS: Final = (
    "The workers will set these user groups to what their rules say here. If someone changed or paused a rule after "
    "that moment, do it again before you start the workers."
)
SOME: Final = (
    "These incidents are public here, but their channels are not in Slack, so they may have turned private after that "
    "moment. Check each channel before you start the web, and retype those that did."
)


class Command(BaseCommand):
    """Run after a restore, before web and workers start: ask the vendors what they know and the database has lost."""

    help = (
        "Run after a restore, before web and workers start. Pending steps are checked in Slack and PagerDuty before "
        "they are carried out, members of private channels are read, and incidents that may have turned private are "
        "listed."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        clock.measure()
        restoring.begin(at=timezone.now())
        for incident_id in sweep.not_planned_yet():
            reconcile.reconcile(incident_id, at=timezone.now())
        count = restoring.look_before_acting(at=timezone.now())
        self.stdout.write(f"{count} steps were pending at that moment. Each is checked before it is carried out.")
        shown = restoring.show_again(at=timezone.now())
        self.stdout.write(f"Topics and headlines of {shown} incidents are set again to what is known here.")
        self._pager()
        chat = ports.chat()
        if chat is None:
            self.stdout.write(UNSEEN)
            return
        found = list(closed_rooms.closed_since(chat))
        self.stdout.write("\n".join([SOME, *map(_line, found)]) if found else NONE)
        why = next((one.unseen_for for one in found if one.unseen_for), "")
        why = why or self._channels(chat) or self._groups()
        unread = 0 if why else membership.read_all(at=timezone.now())
        if unread:
            self.stdout.write(UNREAD.format(unread))
        if why or unread:
            self.stdout.write(f"{AGAIN} {why}".rstrip())

    def _channels(self, chat: Chat) -> str:
        """Print the channels that the restore lost; no timeline mentions them. Return the error if that failed."""
        try:
            found = forgotten_channels.find(chat, at=timezone.now())
        except VendorError as error:
            return error.says_once
        if found:
            self.stdout.write("\n".join([CHANNELS, *map(_made, found)]))
        return ""

    def _groups(self) -> str:
        """Print the user groups that would be overwritten, as rules were lost too. Return the error if that failed."""
        try:
            found = sync.differing(at=timezone.now())
        except VendorError as error:
            return error.says_once
        if found:
            self.stdout.write("\n".join([GROUPS, *map(_change, found)]))
        return ""

    def _pager(self) -> None:
        """Print open pager incidents that the restore lost: the operator can resolve them, or have someone respond."""
        pager = ports.pager()
        if pager is None:
            return
        try:
            found = forgotten.find(pager, at=timezone.now())
        except VendorError as error:
            self.stdout.write(f"{UNASKED} {error.says_once}")
            return
        for is_page, says in ((True, PAGES), (False, ALERTS)):
            some = [f"  {one}" for one in found if one.is_page == is_page]
            if some:
                self.stdout.write("\n".join([says, *some]))


def _made(channel: Channel) -> str:
    about = {"private": channel.private, "archived": channel.archived}
    about["the app was removed"] = not (channel.inside or channel.archived)
    noted = ", ".join(says for says, holds in about.items() if holds)
    return f"  #{channel.name}{f' ({noted})' if noted else ''}  {channel.url}"


def _change(look: Look) -> str:
    change = groups.difference(look.here, look.verdict.write)
    names = {one.chat_id: one.name for one in person_matching.with_chat_ids([*change.joins, *change.leaves])}
    moves = [f"+ {names.get(one, one)}" for one in change.joins] + [f"- {names.get(one, one)}" for one in change.leaves]
    return f"  @{look.rule.handle}: {', '.join(moves)}"


def _line(one: ClosedRoom) -> str:
    reopen = f"manage.py incident reopen {one.codename}; " if one.ended else ""
    return f"  {one.name} {one.says}: {reopen}manage.py incident retype {one.codename} TYPE"
