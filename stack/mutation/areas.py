"""What is mutated, and the tests that must detect it: an area is measured with the fast tests about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class MutatedArea:
    """Modules whose functions are mutated, and the tests that each mutant is run against, by path."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]


AREAS: Final = (
    MutatedArea(
        "planning",
        (
            "workflows/planning/actions.py",
            "workflows/planning/captures.py",
            "workflows/planning/choosing.py",
            "workflows/planning/desired.py",
            "workflows/planning/facts.py",
            "workflows/planning/observed.py",
            "workflows/planning/pages.py",
            "workflows/planning/participation.py",
            "workflows/planning/plan.py",
            "workflows/planning/plan_lines.py",
            "workflows/planning/things.py",
            "workflows/planning/withdrawal.py",
            "workflows/planning/wording/card.py",
            "workflows/planning/wording/marks.py",
            "workflows/planning/wording/nameless.py",
            "workflows/planning/wording/page_notes.py",
            "workflows/planning/wording/privacy_notes.py",
            "workflows/usergroups/groups.py",
        ),
        (
            "workflows/tests/test_captures.py",
            "workflows/tests/test_choosing.py",
            "workflows/tests/test_comparison.py",
            "workflows/tests/test_desired.py",
            "workflows/tests/test_marks.py",
            "workflows/tests/test_participation.py",
            "workflows/tests/test_plan.py",
            "workflows/tests/test_plan_lines.py",
            "workflows/tests/test_plan_sum_laws.py",
            "workflows/tests/test_planning_laws.py",
            "workflows/tests/test_privacy_notes.py",
            "workflows/tests/test_summary_laws.py",
            "workflows/tests/test_wanted_pages.py",
            "workflows/tests/test_withdrawal.py",
            "workflows/tests/oncall/test_groups.py",
        ),
    ),
    MutatedArea(
        "people",
        (
            "incidents/visibility.py",
            "incidents/people/accounts.py",
            "incidents/people/emails.py",
            "incidents/people/person_matching.py",
            "incidents/people/roles.py",
            "incidents/lifecycle/people.py",
        ),
        (
            "incidents/tests/test_access.py",
            "incidents/tests/test_filling_roles.py",
            "incidents/tests/test_opening_up.py",
            "incidents/tests/test_people.py",
            "incidents/tests/test_person_matching.py",
            "incidents/tests/test_roles.py",
            "incidents/tests/test_taking_part.py",
            "incidents/tests/test_verbs.py",
            "incidents/tests/test_visibility.py",
        ),
    ),
    MutatedArea(
        "circle",
        ("incidents/lifecycle/circle.py",),
        (
            "incidents/tests/test_circle.py",
            "integrations/tests/test_closed_circle.py",
            "integrations/tests/test_who_is_in.py",
        ),
    ),
)
