"""What `make mutate` reads and prints; whether mutmut finds its way shows only when it is run."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from config.env import ROOT
from stack.mutation import scoring
from stack.mutation.areas import AREAS


def test_every_module_and_test_that_it_names_is_there_once() -> None:
    modules = [module for area in AREAS for module in area.modules]
    assert len(modules) == len(set(modules))
    for path in [*modules, *(test for area in AREAS for test in area.tests)]:
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize(
    ("names", "modules"),
    [
        (("incidents.visibility",), ["incidents/visibility.py"]),
        (("incidents/visibility.py",), ["incidents/visibility.py"]),
        (("incidents.people", "incidents.vis"), [
            "incidents/visibility.py",
            "incidents/people/accounts.py",
            "incidents/people/emails.py",
            "incidents/people/person_matching.py",
            "incidents/people/roles.py",
        ]),
        (("nothing.known",), []),
        ((), [module for area in AREAS for module in area.modules]),
    ],
)  # fmt: skip
def test_modules_are_chosen_by_the_beginning_of_their_names(names: tuple[str, ...], modules: list[str]) -> None:
    assert [module for area in scoring.chosen(names) for module in area.modules] == modules


def test_mutmut_works_on_links_to_the_code_with_its_own_section(tmp_path: Path) -> None:
    (area,) = scoring.chosen(["incidents.visibility"])
    for _ in range(2):  # leftovers of an earlier run are removed
        scoring.lay(tmp_path / "home", area)
    told = tomllib.loads((tmp_path / "home/pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert told["mutmut"]["only_mutate"] == ["incidents/visibility.py"]
    assert told["mutmut"]["pytest_add_cli_args_test_selection"] == list(area.tests)
    assert told["pytest"]["ini_options"]["testpaths"], "what pytest is told otherwise holds here too"
    assert (tmp_path / "home/incidents/visibility.py").samefile(ROOT / "incidents/visibility.py")


def test_outcomes_are_counted_from_what_mutmut_keeps(tmp_path: Path) -> None:
    kept = tmp_path / "mutants/a/b.py.meta"
    kept.parent.mkdir(parents=True)
    codes = {"killed": 1, "crashed": 3, "slow": 36, "survived": 0, "unreached": 33, "untried": None}
    kept.write_text(json.dumps({"exit_code_by_key": codes}), encoding="utf-8")
    counts = scoring.outcomes(tmp_path, "a/b.py")
    assert counts == Counter(killed=3, survived=1, unreached=1, untried=1)
    assert scoring.outcomes(tmp_path, "a/c.py") == Counter()
    *_, line, everything = scoring.table({"a/b.py": counts})
    assert line == "| a.b | 6 (1 not tried) | 3 | 1 | 1 | 60 % |"
    assert everything.startswith("| all | 6 (1 not tried) |")
