"""The operator's list: errors are reported by file, line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from incidents.policies.yaml_file import BadFile
from integrations.profilers import sources
from integrations.profilers.profiler import ADAPTERS, ListedProfiler

ROOT = Path(__file__).resolve().parents[3]
GOOD = """
sources:
  - name: checkout-api
    type: pprof
    url: http://checkout.internal:6060/debug/pprof
    kinds: [cpu]
"""


def parse(text: str, **environ: str) -> tuple[sources.Listed, ...]:
    return sources.parse(text, file="sources.yaml", environ=environ)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nothing", "sources.yaml:1: file: must be a mapping"),
        ("sources: 3", "sources.yaml:1: sources: must be a list"),
        (GOOD.replace("name: checkout-api\n    ", ""), "sources.yaml:3: sources[0].name: is missing"),
        (GOOD.replace("type: pprof", "type: magic"), "sources.yaml:4: checkout-api.type: must be one of pprof"),
        (GOOD.replace("http:", "file:"), "sources.yaml:5: checkout-api.url: must be an address that starts with"),
        (GOOD.replace("//", "//eve:secret@"), "sources.yaml:5: checkout-api.url: must hold no password"),
        (GOOD.replace("[cpu]", "[luck]"), "sources.yaml:6: checkout-api.kinds[0]: must be one of cpu"),
        (GOOD.replace("[cpu]", "[]"), "sources.yaml:6: checkout-api.kinds: must name at least one of cpu"),
        (GOOD + "    on: [declare]", "sources.yaml:3: checkout-api.on: is set, but services is not"),
        (GOOD + "    on: [sunday]\n    services: [a]", "sources.yaml:7: checkout-api.on[0]: must be one of declare"),
        (GOOD + "    seconds: 0", "sources.yaml:7: checkout-api.seconds: must be a whole number from 1 to 300"),
        (GOOD + "    bearer: secret", "sources.yaml:7: checkout-api.bearer: must name a variable"),
        (GOOD + "    headers: {X-Key: secret}", "sources.yaml:7: checkout-api.headers.X-Key: must name a variable"),
        (GOOD + "    headers: {'X Key': $A}", "sources.yaml:7: checkout-api.headers.X Key: is not a header name"),
        (GOOD + "    password: x", "sources.yaml:7: sources[0].password: is not known"),
        (GOOD.replace("checkout.internal", "${NOT_HERE}"), "sources.yaml:5: checkout-api.url: names NOT_HERE"),
        (GOOD.replace("pprof\n    url", "parca\n    url"), "sources.yaml:3: checkout-api.query: is missing"),
        (
            GOOD.replace("pprof\n    url", "elastic\n    url") + "    query: nothing",
            "sources.yaml:3: checkout-api.query: must be a query in JSON",
        ),
        (GOOD + GOOD.split("sources:\n")[1], "sources.yaml:7: checkout-api.name: is used by an earlier source"),
    ],
)
def test_what_is_wrong_is_named(text: str, says: str) -> None:
    with pytest.raises(BadFile) as bad:
        parse(text)
    assert any(str(one).startswith(says) for one in bad.value.problems), bad.value.problems


def test_an_empty_list_is_none_at_all() -> None:
    assert parse("sources: []") == ()


def test_a_variable_stands_for_a_part_of_an_address() -> None:
    (listed,) = parse(GOOD.replace("checkout.internal:6060", "${WHERE}"), WHERE="here:1")
    assert listed.url == "http://here:1/debug/pprof"


def test_a_kind_may_be_given_the_name_that_the_profiler_has_for_it() -> None:
    (listed,) = parse(GOOD.replace("[cpu]", "{cpu: profile, wall: fgprof}"))
    assert listed.kinds == {"cpu": "profile", "wall": "fgprof"}


def test_the_example_and_the_sandboxs_list_can_be_read() -> None:
    example = sources.read(ROOT / "fixtures/profile_sources.yaml", environ={})
    assert {listed.type for listed in example} == set(sources.TYPES) == set(ADAPTERS)
    environ = {"FIREKIND_PROFILED_URL": "http://127.0.0.1:8001/checkout-api", "FIREKIND_SANDBOX_URL": "http://x"}
    (listed,) = sources.read(ROOT / "fixtures/sandbox_sources.yaml", environ=environ)
    (known,) = ListedProfiler([listed], environ={}).sources()
    assert (known.name, known.on, known.looks_back) == ("checkout-api", ("declare", "mitigate"), False)
