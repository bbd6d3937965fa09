"""An incident is found however it is named: as typed on a phone, pasted from a page, or by mentioning its channel.

A person who may not see it gets the same answer for every form.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Incident, Knock
from integrations.slack.tests.door import Door

FORMS = {
    "as it is": "{name}",
    "capitals": "{NAME}",
    "a capital": "{Name}",
    "as a channel": "#{name}",
    "the channel's name": "inc-{name}",
    "the channel as typed": "#inc-{name} ",
    "the channel, mentioned": "#{channel}",
    "the page": "{page}",
    "the page without its end": "{bare}",
    "an entry of the page": "{page}#e1",
    "a page below it": "{page}evidence/",
    "the page, asked for": "{page}?all=1",
    "quoted": '"{name}"',
    "quoted by a phone": "\N{LEFT DOUBLE QUOTATION MARK}{name}\N{RIGHT DOUBLE QUOTATION MARK}",
    "as code": "`{name}`",
    "in bold": "*{Name}*",
    "with a colon": "{name}:",
    "with a comma": "{name},",
    "with a hyphen that does not break": "{unbroken}",
    "with a dash of a phone": "{dashed}",
    "in brackets": "({name})",
}
SPACES = {"a space": " ", "a new line": "\n", "a space that does not break": "\N{NO-BREAK SPACE}"}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def typed(form: str, name: str, *, channel: str = "") -> str:
    """Write an incident's name in one form."""
    page = f"http://testserver/incidents/{name}/"
    said = {
        "name": name,
        "NAME": name.upper(),
        "Name": name.capitalize(),
        "page": page,
        "bare": page.rstrip("/"),
        "channel": channel,
        "unbroken": name.replace("-", "\N{NON-BREAKING HYPHEN}"),
        "dashed": name.replace("-", "\N{EN DASH}"),
    }
    return form.format(**said)


@forms
def test_whoever_may_see_it_means_the_one_that_is_named(door: Door, incident: Incident, form: str) -> None:
    here = door.house.channel(incident)
    one, other = typed(form, incident.codename, channel=here), door.declared("mail is late", by="ben")
    for space in SPACES.values():
        door.command("out", f"update {one}{space}still here")
        assert incident.events.latest("n").text == "still here"
        door.command("ann", "note between", channel=here)
    door.command("ann", f"duplicate {one} the same pool", channel=door.house.channel(other))
    other.refresh_from_db()
    assert other.duplicate_of == incident
    door.command("ann", "resolved", channel=here)
    assert "Replaying" in door.command("ann", f"replay {one} 20x")
    for verb in ("access", "break-glass"):
        assert "already have access" in door.command("ann", f"{verb} {one} because keys")


@forms
def test_whoever_may_not_see_it_asks_for_the_one_that_is_named(door: Door, incident: Incident, form: str) -> None:
    """The answer is the same whether it exists or not; the request is stored under the codename."""
    secret, said = door.declared("keys", type="security", by="sam"), set()
    form = form.replace("#{channel}", "#inc-{name}-2")  # people cannot mention a private channel that they are not in
    for name in ("quiet-heron", secret.codename):
        Knock.objects.update(at=timezone.now() - timedelta(hours=1))
        said.add(door.command("eve", f"access {typed(form, name)} \N{EN DASH} because: it is my service"))
        knock = Knock.objects.get()
        assert (knock.codename, knock.because) == (name, "it is my service")
        refused = door.command("eve", f"duplicate {incident.codename} {typed(form, name)}")
        assert refused.startswith("No such incident.")
    assert said == {"If that incident exists, the people in it have your request."}
    why = "because our keys leak and I can revoke them"
    assert "You have access" in door.command("eve", f"break-glass {typed(form, secret.codename)} {why}")


@pytest.mark.parametrize("verb", ["access", "break-glass"])
@pytest.mark.parametrize("said", ["", "checkout because it is mine", "https://x.example/y because it is", "the one"])
def test_what_names_none_is_asked_for_and_is_no_request(door: Door, incident: Incident, verb: str, said: str) -> None:
    assert door.command("eve", f"{verb} {said}").startswith("Say which incident and why")
    assert not Knock.objects.exists()
