"""Two tabs of one person are drawn at once; whatever the order, what Slack may come to show stays recorded."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations, product

from django.utils import timezone

from integrations.slack.listeners import late_tabs
from integrations.slack.models import OnHome
from integrations.slack.tests.door import Door

SEND, CONFIRM = "send", "confirm"
TABS = (0, 1)
STEPS = [(step, tab) for tab in TABS for step in (SEND, CONFIRM)]
EACH_SENT_FIRST = [
    order for order in permutations(STEPS) if all(order.index((SEND, n)) < order.index((CONFIRM, n)) for n in TABS)
]


def test_a_tab_that_slack_may_still_show_is_not_forgotten_because_of_another(door: Door) -> None:
    one, two = (door.declared(title).pk for title in ("one", "two"))
    began = timezone.now()
    for order, answered, shown in product(
        EACH_SENT_FIRST, product((True, False), repeat=2), product(({one}, {two}), repeat=2)
    ):
        OnHome.objects.all().delete()
        until = {}
        for second, (step, tab) in enumerate(order):
            if step == SEND:
                until[tab] = late_tabs.send("U1", {}, shown=shown[tab], at=began + timedelta(seconds=second))
            elif answered[tab]:
                late_tabs.confirm("U1", until[tab], {}, shown=shown[tab])
        tried = (order, answered, shown)
        rows = {row.incident_id: row for row in OnHome.objects.all()}
        for tab in TABS:
            (row,) = (rows[pk] for pk in shown[tab])
            if not answered[tab]:
                assert row.unconfirmed_until is not None, tried
                assert row.unconfirmed_until >= until[tab], tried
        confirmed = [tab for step, tab in order if step == CONFIRM and answered[tab]]
        if confirmed:
            assert not any(rows[pk].drawn_without for pk in shown[confirmed[-1]]), tried
