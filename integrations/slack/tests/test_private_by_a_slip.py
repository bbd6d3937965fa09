"""An incident meant to be private never becomes public by a slip, however a private type is written before a title."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.models import Incident, IncidentType, PolicyVersion
from incidents.policies import types
from integrations.slack.listeners.incident import retype, type_in_front
from integrations.slack.protocol import mrkdwn
from integrations.slack.tests.door import Door
from workflows.tests.shipped_facts import POLICIES

NAMES = (
    "Security", "Legal & privacy", "Vie privée", "Безопасность", "HR / people", "セキュリティ",
    "New secrets", "R&D > secrets", ":lock: Vault", "सुरक्षा उल्लंघन की बड़ी घटना",
)  # fmt: skip
WRITTEN = (
    "{}: keys leaked", "{} : keys leaked", "{}\uff1akeys leaked", "\u201c{}: keys leaked\u201d", '"{}: keys leaked"',
    "*{}*: keys leaked", ":lock: {}: keys leaked", ":lock: :fire: {} keys leaked", "[{}] keys leaked",
    "#{}: keys leaked", "{} - keys leaked", "{} \u2014 keys leaked", "{}; keys leaked", "{}, keys leaked",
    "{}\nkeys leaked", "{}\u00a0keys leaked", "{} keys leaked", "-{} keys leaked", "type {}: keys leaked",
    "as {}: keys leaked", "a {} keys leaked", "{}", "{}:",
)  # fmt: skip


@pytest.fixture
def many(door: Door) -> Door:
    """A workspace with several private types, with names in other languages."""
    policy = IncidentType.objects.get(slug="security").policy
    for n, name in enumerate(NAMES[1:]):
        types.add(replace(policy, slug=f"secret-{ascii_lowercase[n]}", name=name), by=None, at=door.house.now())
    return door


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_public_whose_title_begins_with_a_private_type(many: Door, name: str) -> None:
    for n, written in enumerate(WRITTEN):
        Incident.objects.update(title="before")
        if many.command("ann", f"declare {written.format(name.upper() if n % 2 else name)}") == "":
            assert "may be meant, which is private. Nothing was declared" in many.reads(many.modal("ann"))
            many.submit("ann", **({} if "keys" in written else {"title": "keys leaked"}))
        made = many.incident()
        assert made.private, written
        assert (made.policy.name, made.title) == (name, "keys leaked"), written


ODD = ("Because", "R&D", "<3", ">", "P1:", ":lock:", "/", "Zugriff", "सुरक्षा", "ปลอดภัย")
WORDS = st.sampled_from([*sorted(type_in_front.BEFORE | retype.BEFORE), *ODD])
JOINED = st.sampled_from([": ", " ", " - ", "\uff1a", ", ", "\u00a0", " : "])


@given(words=st.lists(WORDS, max_size=5), upper=st.booleans(), joined=JOINED)
def test_a_type_is_known_by_its_whole_name_whatever_words_that_has(words: list[str], upper: bool, joined: str) -> None:
    name = " ".join([*words, "x"])
    policy = replace(POLICIES["security"], slug="qq", name=name)
    type = IncidentType(slug="qq", current=PolicyVersion(body=policy.as_dict()))
    said = mrkdwn.escape(name.upper() if upper else name)
    for after in (type_in_front.BEFORE, retype.BEFORE):
        assert type_in_front.leading(f"{said}{joined}keys leaked", [type], after=after) == (type, "keys leaked")


def declare(door: Door, typed: str) -> None:
    """Send a command with its words as Slack passes them to apps."""
    delivery = door.slack.acts.command("ann", "lobby", "/incident declare x")
    delivery.payload["text"] = f"declare {typed}"
    door.send(delivery)


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("<https://x.example/a|x> & y: red", "x (https://x.example/a) & y: red"),
        ("insecurity in numbers", "insecurity in numbers"),
        ("our tools: slow", "our tools: slow"),
        ("10:30 checkout is slow", "10:30 checkout is slow"),
        (":fire: checkout is slow", ":fire: checkout is slow"),
        ("\u201ccheckout\u201d is slow", "\u201ccheckout\u201d is slow"),
        ("Major outage in checkout", "Major outage in checkout"),
        ("Major outage since 14:02", "Major outage since 14:02"),
        ("major outage, see <https://s.example>", "major outage, see https://s.example"),
    ],
)
def test_whatever_names_no_private_type_is_declared_at_once(door: Door, typed: str, title: str) -> None:
    declare(door, typed.replace(" & ", " &amp; "))
    assert door.incident().title == title


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("security breach since 14:02", "breach since 14:02"),
        ("security keys leaked <https://s.example>", "keys leaked https://s.example"),
    ],
)
def test_what_follows_a_private_type_is_kept_whole(door: Door, typed: str, title: str) -> None:
    declare(door, typed)
    assert "which is private" in door.reads(door.modal("ann"))
    door.submit("ann")
    assert (door.incident().private, door.incident().title) == (True, title)


@pytest.mark.parametrize("typed", ["declare incident", "new incident", "open an incident", "create a new incident"])
def test_an_incident_is_no_title(door: Door, typed: str) -> None:
    assert door.command("ann", typed) == ""
    assert not Incident.objects.exists()
    assert door.fields("ann")[0] == "title"


@pytest.mark.parametrize(
    ("typed", "slug", "because"),
    [
        ("to security keys leaked", "security", "keys leaked"),
        ("time bomb certificates end", "time-bomb", "certificates end"),
        ("\u2192 time bomb", "time-bomb", ""),
        ("into *Time Bomb* because it ticks", "time-bomb", "it ticks"),
        ("\u201cmajor\u201d", "major", ""),
        ("major: nobody can pay", "major", "nobody can pay"),
        ("major\nnobody can pay", "major", "nobody can pay"),
        ("major nobody can pay because cards fail", "major", "nobody can pay because cards fail"),
        ("major BECAUSE cards fail", "major", "cards fail"),
    ],
)
def test_a_retype_understands_a_type_however_it_is_written(
    door: Door, incident: Incident, typed: str, slug: str, because: str
) -> None:
    door.command("ann", f"retype {typed}", channel=door.house.channel(incident))
    door.submit("ann")
    incident.refresh_from_db()
    assert incident.type.slug == slug
    assert incident.events.get(kind="retyped").text == because


@pytest.mark.parametrize("name", ["Broken because of us", "To do", "As designed", "Into the dark", "Latency > target"])
@pytest.mark.parametrize("typed", ["{}", "to {}", "{} because it is", "{}: it is"])
def test_a_retype_understands_a_type_whose_name_has_words_that_mean_something_else(
    door: Door, incident: Incident, name: str, typed: str
) -> None:
    policy = replace(IncidentType.objects.get(slug="major").policy, slug="other", name=name)
    types.add(policy, by=None, at=door.house.now())
    door.command("ann", f"retype {typed.format(name)}", channel=door.house.channel(incident))
    door.submit("ann")
    incident.refresh_from_db()
    assert incident.type.slug == "other"
    assert incident.events.get(kind="retyped").text == ("it is" if "it is" in typed else "")
