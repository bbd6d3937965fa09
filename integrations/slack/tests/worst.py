"""An incident made of the worst words, and everything that Slack was sent about it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from django.utils import timezone

from evidence.findings import findings
from evidence.intake import digesting, receiving
from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.slack.tests.door import Door
from integrations.slack.tests.typed import FORGED, SENTINELS, controls, debris, written
from workflows import ports
from workflows.models import PagerRead, PagerTarget, PagerUser, Shift
from workflows.tests.oncall.pager import LittlePager

WORST: Final = " ".join(FORGED).replace("\n", " ")
TITLE, NAME = WORST[:190], WORST[:150]


@contextmanager
def declared(door: Door) -> Iterator[Incident]:
    """Declare one whose title, people, updates, evidence, findings and pages all use such words."""
    now = timezone.now()
    ann = door.house.person("ann")
    Person.objects.filter(pk=ann.pk).update(name=NAME)
    PagerRead.objects.create(directory_at=now, shifts_at=now, failed_at=now, says=WORST, failing="turns")
    PagerTarget.objects.create(pager_id="PPOL1", kind="policy", name=NAME, service_id="PSVC1", levels=2)
    PagerUser.objects.create(pager_id="PEVE", name=NAME, person=None)
    Shift.objects.create(subject="PPOL1", level=1, user="PEVE", start_at=now - timedelta(hours=1))
    with ports.using(chat=door.house.chat, pager=LittlePager()):
        made = lifecycle.declare(TITLE, by=Person.objects.get(pk=ann.pk), at=now, type=door.house.type("ambiguous"))
        lifecycle.update(made, text=WORST, by=ann, at=now, source="web")
        findings.claim(made, text=TITLE, by=ann, at=now)
        receiving.receive(made, body=io.BytesIO(b"<!channel>;a 1\n"), title=TITLE, by=ann, via="upload", at=now)
        for one in digesting.waiting(at=timezone.now()):
            digesting.digest(one, at=timezone.now())
        yield door.house.settle(made)


def told(door: Door) -> Iterator[str]:
    """Yield every text of our messages, answers, modals, tabs and topics as sent: Slack turns URLs into links."""
    workspace = door.slack.workspace
    for call in door.slack.calls:
        yield from (str(call.args[name]) for name in ("text", "topic") if name in call.args)
    for channel in workspace.channels.values():
        for message in channel.messages.values():
            if message.user == door.slack.bot.id and not message.is_system:
                yield from written([message.blocks, message.attachments])
    for shown in workspace.ephemerals.values():
        yield shown.text
        yield from written(shown.blocks)
    for view in workspace.views.values():
        yield from written(view.body)


def faults(texts: Iterator[str]) -> list[str]:
    """Return the texts that mention, link or date what someone typed, or contain half of an escape."""
    return [
        one
        for one in texts
        if debris(one) or any(SENTINELS.search(control.partition("|")[0]) for control in controls(one))
    ]
