"""A signed webhook with anything in any field is accepted, and blocks nothing behind it.

Missing, null and wrongly typed values are tried in every field of one event of each kind. PagerDuty retries after a 5xx
for two days, and disables the subscription after three 4xx in a row, so every answer is 200 or 202.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from incidents.models import Incident
from incidents.tests.oddities import LEFT_OUT, places, with_odd
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.protocol.event_words import KINDS
from integrations.pagerduty.tests.posted import LEO, Door, about, event, incident
from workflows.models import PagerUser

ODD: Final[tuple[Any, ...]] = (
    None,
    LEFT_OUT,
    5,
    "",
    "x",
    "\0",
    [],
    {},
    True,
    [None],
    {"id": None},
    "U" * 5000,
    -1.5e300,
)
FULL: Final = incident(assignees=[LEO], priority={"id": "PP", "summary": "P1"}, incident_key="firekind/1/page")
OTHER: Final[dict[str, dict[str, Any]]] = {
    "annotated": about(id="N1", content="We are on it"),
    "status_update_published": about(id="S1", message="Half of them are back"),
    "responder.added": about(state="pending", message="Please help", user=LEO, escalation_policy=None),
    "responder.replied": about(state="accepted", message="", user=LEO, escalation_policy=None),
}
ALL: Final = sorted(kind.removeprefix("incident.") for kind in KINDS)


@pytest.mark.parametrize("kind", ALL)
def test_every_oddity_is_taken_and_holds_nothing_up(
    kind: str, door: Door, shipped: object, on_pager: PagerUser
) -> None:
    whole = event(kind, OTHER.get(kind, FULL))
    sent = [with_odd(whole, at, odd) for at in places(whole) for odd in ODD]
    # Every place gets every odd value across all kinds, and each kind gets a third of them.
    turn = ALL.index(kind)
    for n, one in enumerate(sent):
        if n % 3 == turn % 3:
            answer = door.send({"id": "", **one} if "id" not in one else one, key=f"odd-{kind}-{n}")
            assert answer.status_code in {200, 202}, one
    declared = Incident.objects.count()
    door.work()
    door.work(after_s=12 * 3600)

    errors = [one.says for one in Webhook.objects.filter(attempt__gt=0)]
    assert not errors, "an oddity is ignored or told, not tried again and again"
    assert Incident.objects.count() >= declared
    assert door.send(event(kind, OTHER.get(kind, FULL)), key=f"true-{kind}").status_code == 202
    door.work(after_s=13 * 3600)
    assert Webhook.objects.get(key=f"true-{kind}").state == "done"
