"""The houses of chaos runs: whatever a seed draws can be loaded, and differs from the demo."""

from pathlib import Path

import pytest

from incidents.policies import policy_file
from integrations.slack.fake import FakeSlack, seed
from stack.chaos import houses, scenario

SEEDS = [seed for seed in range(40) if seed % 3]


@pytest.mark.parametrize("number", SEEDS)
def test_whatever_is_drawn_is_a_file_of_types_that_people_could_have_written(number: int, tmp_path: Path) -> None:
    written = houses.drawn(number, folder=tmp_path)
    file = policy_file.read(Path(written[houses.TYPES]))
    assert {one.slug for one in file.policies} == set(scenario.TYPES)
    assert any(one.private for one in file.policies)
    assert not all(one.private for one in file.policies)


@pytest.mark.parametrize("number", SEEDS)
def test_the_workspace_of_it_can_be_furnished(number: int, tmp_path: Path) -> None:
    written = houses.drawn(number, folder=tmp_path)
    slack = FakeSlack()
    seed.furnish(slack, seed.read(Path(written[houses.WORKSPACE])))
    assert len(slack.workspace.groups) == len(seed.read()["groups"]) - 1


def test_the_same_seed_draws_the_same_house_and_one_seed_of_three_the_demos(tmp_path: Path) -> None:
    texts = [[Path(path).read_text() for path in houses.drawn(7, folder=tmp_path).values()] for _ in range(2)]
    assert texts[0] == texts[1]
    assert houses.drawn(6, folder=tmp_path) == {}
