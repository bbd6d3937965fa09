"""The database lost its last moments while vendors keep theirs: nothing new joins what was lost.

Numbers that were given out then are given out again; what is known outside by such a number would be taken for ours.
"""

from __future__ import annotations

import pytest
from django.core.management import call_command

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from integrations.tests.losing import lost
from workflows.models import Page


@pytest.mark.parametrize("commands", [(), ("restored",)], ids=["nobody-says-so", "restored"])
def test_a_page_of_a_new_incident_rings_though_one_that_was_lost_is_open(duty: Duty, commands: tuple[str, ...]) -> None:
    with lost():
        gone = duty.house.declare("Payments fail", type="major")
        (page,) = Page.objects.filter(incident=gone).values_list("pager_id", flat=True)
    assert not Incident.objects.filter(pk=gone.pk).exists()
    for one in commands:
        call_command(one)
    assert duty.times_rung("max") == 1

    incident = duty.house.declare("Checkout is slow", type="major")
    assert duty.times_rung("max") == 2
    assert page not in Page.objects.filter(incident=incident).values_list("pager_id", flat=True)
    lifecycle.resolve(incident, text="", by=duty.house.person("dee"), at=duty.house.now())
    duty.house.settle(incident)
    assert duty.account.account.incidents[page].status == "triggered", "nobody ends what is not theirs"
