"""Redact the title of an alert that no timeline entry mentions."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

import audit
from incidents import lifecycle
from incidents.audited import copies
from incidents.lifecycle import redaction, rules
from incidents.models import Event, Incident, Person, Source
from workflows.models import Alert


@transaction.atomic
def redact(incident: Incident, *, pager_id: str, by: Person | None, at: datetime, source: str = Source.WEB) -> None:
    """Remove the title of an alert for good, and of every other alert with the same title.

    The timeline entry that quotes it, if any, is redacted too. Raises ``Refused`` unless ``by`` leads the incident, and
    while the incident still has that title.
    """
    now = rules.held(incident, by=by)
    if not redaction.is_lead(now, by):
        raise rules.Refused(redaction.NOT_THE_LEAD)
    alert = Alert.objects.filter(incident=now, pager_id=pager_id).first()
    if alert is None:
        raise rules.Refused("This incident has no such alert.")
    if alert.title == copies.STANDS:
        raise rules.Refused("This alert is already redacted.")
    told = Event.objects.filter(incident=now, kind="alert", redacted=None, data__title=alert.title).first()
    if told is not None:
        lifecycle.redact(now, n=told.n, by=by, at=at, source=source)
        return
    copies.let_go(now, [alert.title])
    lifecycle.remark(now, "did", text="redacted the title of an alert", by=by, at=at, source=source)
    who, name = (by.pk, by.name) if by else (None, "")
    audit.note("redacted", by=who, by_name=name, about=now.codename, data={"alert": pager_id}, at=at)
