"""Home tabs: what waits for the viewer, then the open incidents.

A tab is redrawn when an incident on it becomes private, and when an action shown as in progress ends. Slack keeps the
tab as last drawn, and shows that before we learn that someone opened it.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from django.utils import timezone

from incidents import visibility
from incidents.drills import agreement
from incidents.models import Incident, Person
from integrations.slack.adapter import current
from integrations.slack.interaction import afterwards, incident_lookup, mentions, replying
from integrations.slack.interaction.answers import Answer, Nothing
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.listeners import late_tabs, read, waiting
from integrations.slack.listeners.waiting import WaitingItem
from integrations.slack.models import OnHome
from integrations.slack.protocol import blocks, mrkdwn, setup
from workflows import ports
from workflows.ports import VendorError

log = logging.getLogger(__name__)

SHOWN: Final = 24  # three blocks each, of the hundred that a tab may have
TITLE: Final = 100
QUIET: Final = "No open incidents that you can see."
FIRST: Final = "When something looks wrong, declare it. A title is enough, and you can change the type later."
DECLARE: Final = "firekind:declare"
TRIES: Final = 3
AT_ONCE: Final = 20  # of the hundred calls a minute that Slack allows


def draw(chat_id: str) -> Collection[int]:
    """Draw a person's tab; return the incidents for which it shows an action in progress.

    The incidents on it are recorded before drawing and checked after it, because one may have become private meanwhile.
    If Slack doesn't confirm the tab, it is drawn again once it can no longer appear after that.
    """
    viewer = mentions.met(chat_id)
    under_way: Mapping[int, str] = {}
    for _ in range(TRIES):
        found, waits = on_tab(viewer), waiting.on(viewer, at=timezone.now())
        shown = {one.pk for one in (*found, *(one.incident for one in waits))}
        under_way = waiting.under_way(waits)
        until = late_tabs.send(chat_id, under_way, shown=shown, at=timezone.now())
        agrees = viewer.agrees_to_drills if viewer.can_join else None
        replying.call("views.publish", user_id=chat_id, view=view(found, waits, agrees=agrees))
        late_tabs.confirm(chat_id, until, under_way, shown=shown)
        if _still_seen(viewer, shown):
            late_tabs.forget(chat_id, but=shown)
            break
    return under_way.keys()


def redrawn(listener: Callable[[SlackRequest], Answer]) -> Callable[[SlackRequest], Answer]:
    """Make a listener redraw the Home tab after one of its buttons is pressed; no card there updates by itself."""

    def run(asked: SlackRequest) -> Answer:
        answer = listener(asked)
        if asked.on_home:
            afterwards.leave(partial(draw, str(asked.by.chat_id)))
        return answer

    return run


def redraw() -> int:
    """Redraw the tabs that show something their owner can no longer see; return how many."""
    return _redrawn(sorted(set(_stale())))


def refresh() -> int:
    """Redraw the tabs that show something as in progress that has ended or failed; return how many."""
    return _redrawn(_over())


def _redrawn(chat_ids: Iterable[str]) -> int:
    if current.slack() is None:
        return 0
    drawn = 0
    for chat_id in islice(chat_ids, AT_ONCE):
        try:
            under_way = draw(chat_id)
            late_tabs.clear(chat_id, but=under_way)
        except VendorError as error:
            log.warning("views.publish failed: %s", error.code)
            if error.retry_after is not None:
                break
            if error.retryable:
                continue  # the next look finds it again
            OnHome.objects.filter(chat_id=chat_id).delete()  # a person who is gone has no tab
        drawn += 1
    return drawn


def on_tab(viewer: Person) -> list[Incident]:
    """Return the most urgent open incidents for a person's tab, and one extra if there are more."""
    found = incident_lookup.seen(viewer).filter(active=True, is_drill=False)[: read.CONSIDERED]
    return read.urgent_first(found, at=timezone.now())[: SHOWN + 1]


def view(found: Sequence[Incident], waits: Sequence[WaitingItem] = (), *, agrees: bool | None = None) -> blocks.Block:
    """Build the tab: what waits for its viewer, then the open incidents.

    ``agrees`` is whether they take part in drills; with None the tab does not ask.
    """
    declare = blocks.button("Declare an incident", action_id=DECLARE, style="primary")
    links = blocks.button("Open Firekind", action_id="firekind:open", url=f"{setup.base_url()}/")
    parts = [blocks.actions(declare, links, *_drills(agrees))]
    if waits:
        parts.append(blocks.header("Waiting for you"))
    for item in waits:
        parts += _waiting(item)
    parts.append(blocks.header("Open incidents"))
    if not found:
        parts.append(blocks.section(f"{QUIET}\n{FIRST}"))
    channels = incident_lookup.channels(found)
    for incident in found[:SHOWN]:
        parts += _incident(incident, channels)
    if len(found) > SHOWN:
        parts.append(blocks.section(mrkdwn.link(f"{setup.base_url()}/", "See all")))
    return {"type": "home", "blocks": parts}


def drills(asked: SlackRequest) -> Answer:
    """Record whether someone wants to be invited to drills, from the button they pressed."""
    agreement.agree(asked.by, agrees=asked.value == "yes")
    return Nothing()


def _drills(agrees: bool | None) -> Iterator[blocks.Block]:
    """Yield the button for the opposite of the current answer."""
    if agrees is not None:
        label, value = ("Stop inviting me to drills", "no") if agrees else ("Invite me to drills", "yes")
        yield blocks.button(label, action_id="firekind:drills", value=value)


def _waiting(item: WaitingItem) -> list[blocks.Block]:
    private = ":lock: " if item.incident.private else ""
    title = mrkdwn.escape(mrkdwn.cut(item.incident.title, TITLE))
    about = f"{private}{incident_lookup.linked(item.incident)}  {title}"
    parts = [blocks.section(f"{item.says}\n{about}")]
    return [*parts, blocks.actions(*item.buttons)] if item.buttons else parts


def _still_seen(viewer: Person, shown: set[int]) -> bool:
    return visibility.visible_to(viewer).filter(pk__in=shown).count() == len(shown)


def _stale() -> Iterator[str]:
    """Yield the chat ids of people whose tab shows an incident that they may not see."""
    lines: dict[int, set[str]] = defaultdict(set)
    for incident_id, chat_id in OnHome.closable().filter(drawn_without=False).values_list("incident_id", "chat_id"):
        lines[incident_id].add(chat_id)
    for incident_id, chat_ids in lines.items():
        known = dict(Person.objects.filter(chat_id__in=chat_ids).values_list("pk", "chat_id"))
        seeing = visibility.who_may_see(incident_id, among=known)
        yield from chat_ids - {known[pk] for pk in seeing}


def _over() -> Iterator[str]:
    """Yield the chat ids of people whose tab shows something as in progress that has ended or failed.

    Includes those whose newest tab may have been replaced by an earlier, unconfirmed one, once that no longer can be.
    """
    tabs: dict[str, list[OnHome]] = defaultdict(list)
    for one in OnHome.passing().order_by("pk"):
        tabs[one.chat_id].append(one)
    at = timezone.now()
    for chat_id, rows in tabs.items():
        if late_tabs.is_due(rows, waiting.under_way(waiting.on(mentions.met(chat_id), at=at)), at=at):
            yield chat_id


def _incident(incident: Incident, channels: Mapping[int, str]) -> list[blocks.Block]:
    take = [("Take the lead", "take-lead", "primary")] if incident.lead_id is None else []
    paging = [("Page", "page", None)] if ports.pager() is not None else []
    verbs = (
        blocks.button(label, action_id=f"firekind:{verb}", value=incident.codename, style=style)
        for label, verb, style in (
            *take,
            ("Update", "update", None),
            ("Retype", "retype", None),
            *paging,
            ("Resolve", "resolve", None),
        )
    )
    return [
        blocks.divider(),
        blocks.section(read.line(incident, channels, at=timezone.now())),
        blocks.actions(*verbs),
    ]
