"""The types file: errors name file, line and field; loading again changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from incidents.models import IncidentType, PolicyVersion
from incidents.policies import policy_file, types
from incidents.policies.policy import Policy

SHIPPED = Path(__file__).resolve().parents[2] / "fixtures/incident_types.yaml"

GOOD = """
types:
  - slug: odd
    name: Odd
    says: Something odd
"""


def problems(text: str) -> list[str]:
    with pytest.raises(policy_file.BadTypesFile) as bad:
        policy_file.parse(text, file="types.yaml")
    return [str(problem) for problem in bad.value.problems]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "types.yaml:1: file: must be a mapping"),
        ("types: []", "types.yaml:1: types: must be a list with at least one type"),
        ("types: [", "types.yaml:1: yaml: "),
        (GOOD + "    inviet: [support]", "types.yaml:6: type.inviet: is not known; known: announce, captures"),
        (GOOD + "    invite: support", "types.yaml:6: odd.invite: must be a list"),
        (GOOD + "    invite: ['#support']", "types.yaml:6: odd.invite[0]: is not a group handle: '#support'"),
        (GOOD + "    private: maybe", "types.yaml:6: odd.private: must be true or false"),
        (GOOD + "    update_every_min: soon", "types.yaml:6: odd.update_every_min: must be a number of minutes"),
        (GOOD + "    colour: pink", "types.yaml:6: odd.colour: must be one of slate"),
        (GOOD + "    one_of: [{role: Boss}]", "types.yaml:6: odd.one_of[0]: needs a schedule or a group"),
        (GOOD + "    slug: odder", "types.yaml:6: type.slug: is given twice"),
        (GOOD.replace("    name: Odd\n", ""), "types.yaml:3: odd.name: is missing"),
        (GOOD.replace("slug: odd", "slug: Odd One"), "types.yaml:3: Odd One.slug: must be 2 to 40 of a-z"),
        (GOOD + GOOD.split("types:\n")[1], "types.yaml:6: odd.slug: is used by an earlier type"),
        (f"default: even\n{GOOD}", "types.yaml:1: default: is not a type in this file: 'even'"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(text: str, says: str) -> None:
    assert any(problem.startswith(says) for problem in problems(text)), problems(text)


def test_every_mistake_is_named_at_once() -> None:
    assert len(problems(GOOD + "    colour: pink\n    private: maybe\n    invite: 3")) == 3


def test_the_shipped_types_are_the_table() -> None:
    found = {policy.slug: policy for policy in policy_file.read(SHIPPED).policies}
    assert list(found) == ["ambiguous", "internal", "security", "time-bomb", "isolated", "major"]
    assert {slug for slug, policy in found.items() if policy.private} == {"security"}
    assert {slug for slug, policy in found.items() if policy.customer_facing} == {"isolated", "major"}
    assert {slug for slug, policy in found.items() if policy.internal} == {"internal", "time-bomb"}
    assert all("support" in policy.invite for policy in found.values() if policy.customer_facing)
    assert found["security"].one_of[0].group == "platform-leadership"


def test_loading_again_changes_nothing_and_a_change_is_a_new_version(db: None) -> None:
    file = policy_file.read(SHIPPED)
    assert len(types.load(file, at=timezone.now())) == 6
    assert types.load(file, at=timezone.now()) == []
    changed = file.policies[0].as_dict() | {"update_every_min": 15}
    newer = policy_file.TypesFile((Policy.from_dict(changed), *file.policies[1:]), file.default)
    assert types.load(newer, at=timezone.now()) == ["changed ambiguous to version 2"]
    assert PolicyVersion.objects.filter(type__slug="ambiguous").count() == 2


def test_what_was_edited_in_the_web_stays_until_the_file_says_something_new(db: None) -> None:
    file = policy_file.read(SHIPPED)
    types.load(file, at=timezone.now())
    major = IncidentType.objects.get(slug="major")
    edited = Policy.from_dict(major.policy.as_dict() | {"says": "Ours"})
    types.edit(major, policy=edited, by=None, at=timezone.now())
    assert types.load(file, at=timezone.now()) == []
    assert IncidentType.objects.get(slug="major").policy.says == "Ours"


def test_a_policy_survives_its_stored_form() -> None:
    for policy in policy_file.read(SHIPPED).policies:
        assert Policy.from_dict(policy.as_dict()) == policy
