"""What stays public once an incident is private: counted or listed for its people, never the words themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from incidents.models import Incident, Person
from workflows import ports
from workflows.channels import rooms
from workflows.chat_port import Remains
from workflows.models import Effect, Resource
from workflows.planning.actions import CREATE
from workflows.planning.observed import THEIRS, THERE
from workflows.planning.wording import cards
from workflows.ports import VendorError

SEEN: Final = (
    "Notifications and emails that Slack or PagerDuty sent stay with the people who got them. Messages that "
    "Slack showed to one person stay on their screen until they reload it."
)


@dataclass(frozen=True, slots=True)
class Left:
    """What stays in one channel: how many messages, from which authors, and how many files."""

    channel: str
    messages: int
    files: int
    authors: tuple[tuple[str, int], ...]
    more: bool = False

    def __str__(self) -> str:
        """Say it in one sentence: *12 messages and 1 file that others posted stay in #inc-amber-otter*."""
        messages, files = _counted(self.messages, "message"), _counted(self.files, "file")
        more = "More than " if self.more else ""
        stay = "stays" if (self.messages, self.files) == (1, 0) else "stay"
        said = f"{messages} and {files}" if self.files else messages
        return f"{more}{said} that others posted {stay} in {self.channel}"


def now(incident: Incident) -> Left | None:
    """Count what is in the current channel, asking the vendor; None if nothing can be counted."""
    channel, chat = rooms.channel_of(incident), ports.chat()
    if channel is None or chat is None:
        return None
    try:
        found = chat.remains(channel.external_id)
    except VendorError:
        return None
    return _left(channel.label, found, _names(found.authors))


def of(resources: Mapping[str, Resource]) -> list[Left]:
    """Return what was counted in each former channel, from an incident's resources."""
    rows = [row for row in resources.values() if row.kind == "counted" and row.state == THERE]
    found = [(resources.get(f"channel/{row.room}"), Remains(**row.external)) for row in rows]
    names = _names({author: 0 for _, one in found for author in one.authors})
    return [_left(channel.label, one, names) for channel, one in found if channel and (one.messages or one.files)]


def elsewhere(incident: Incident, resources: Mapping[str, Resource], effects: Iterable[Effect]) -> list[str]:
    """Say what else no one can remove: what the pager keeps, and what people were shown."""
    said = [f"{name} was unarchived. To close it again, archive it in Slack." for name in _brought_back(resources)]
    kept = [row.label for row in resources.values() if row.external.get("title_kept")]
    said += [f"PagerDuty rejected the new title for {', '.join(kept)}: the old one stays."] if kept else []
    logged = list(_logged(incident, effects))
    if logged:
        said.append(f"PagerDuty's log cannot be changed and keeps the old title: {', '.join(logged)}.")
    emptied = [row.label for row in resources.values() if row.kind == "ticket" and row.spec.get("withdrawn")]
    if emptied:
        says = "was emptied and closed" if len(emptied) == 1 else "were emptied and closed"
        said.append(f"{', '.join(emptied)} {says}; the issue tracker's history keeps earlier titles.")
    if named := _named_by_duplicates(incident):
        said.append(f"Archived channels cannot be changed, so the channels of its duplicates still name it: {named}.")
    if logged or any(row.kind == "channel" and not row.spec.get("private") for row in resources.values()):
        said.append(SEEN)
    return said


def _brought_back(resources: Mapping[str, Resource]) -> Iterator[str]:
    """Yield the old public channels that someone unarchived."""
    for row in resources.values():
        channel = resources.get(f"channel/{row.room}") if (row.kind, row.state) == ("archived", THEIRS) else None
        if channel is not None and not channel.spec.get("private"):
            yield channel.label


def _logged(incident: Incident, effects: Iterable[Effect]) -> Iterator[str]:
    """Yield the pages that were opened under a title that says what the incident is about."""
    neutral = cards.neutral_title(incident.codename)
    for one in effects:
        if (one.kind, one.verb, one.state) == ("page", CREATE, Effect.State.DONE) and one.spec["title"] != neutral:
            yield f"the page to {one.spec['name']}"


def _named_by_duplicates(incident: Incident) -> str:
    """Return the public channels that named it as the original and were archived before it was private."""
    archived = Resource.objects.filter(kind="archived", state=THERE, incident__duplicate_of=incident)
    return ", ".join(archived.filter(incident__private=False).order_by("pk").values_list("label", flat=True))


def _left(channel: str, found: Remains, names: Mapping[str, str]) -> Left:
    ordered = sorted(found.authors.items(), key=lambda pair: (-pair[1], pair[0]))
    authors = tuple((names.get(author, _unknown(author)), count) for author, count in ordered)
    return Left(channel, found.messages, found.files, authors, found.more)


def _unknown(author: str) -> str:
    return "another app" if author.startswith("B") else "someone else"


def _names(authors: Mapping[str, int]) -> dict[str, str]:
    rows = Person.objects.filter(chat_id__in=authors).values_list("chat_id", "name") if authors else ()
    return {str(chat_id): name for chat_id, name in rows}


def _counted(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else f'{one}s'}"
