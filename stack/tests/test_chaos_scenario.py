"""What a chaos run does is a pure function of its seed."""

from collections import Counter
from pathlib import Path

from integrations.pagerduty.fake import seed as account
from integrations.sandbox import keys
from stack.chaos import accounts, scenario
from stack.chaos.exchanges import EXCHANGED, KEYS
from stack.chaos.outages import OUT, WAYS
from stack.chaos.restores import RESTORED
from workflows.planning.actions import KINDS


def test_the_same_seed_plans_the_same_acts_and_faults() -> None:
    once, again, other = (scenario.drawn(seed, minutes=10) for seed in (7, 7, 8))
    assert once == again
    assert once.digest == again.digest != other.digest


def test_runs_of_ten_minutes_have_hundreds_of_incidents_and_every_act_and_fault() -> None:
    found = scenario.drawn(1, minutes=10)
    assert found.incidents >= 200
    assert {one.kind for one in found.acts} == {*scenario.ACTS, "declare"}
    faults = [one for seed in (1, 2, 3) for one in scenario.drawn(seed, minutes=10).faults]  # each in most runs
    kinds = {one.kind for one in faults}
    assert kinds >= {"kill_worker", "crash_at", "kill_web", "restart_postgres", "freeze_postgres", "flush_redis"}
    assert kinds >= {"freeze_worker", "freeze_web", "freeze_evidence"}
    assert kinds >= {"restart_redis", "freeze_redis", "step_clock", "slack", "pager", "tracker"}
    assert kinds >= {"archive_announcing", "rename_announcing", "regroup", "deactivate"}
    both = {one.more["fault"] for one in faults if one.kind in {"slack", "pager"}}
    assert both >= {"ratelimited", "server_error", "timeout", "drop", "silence", "slow", "revoked"}
    places = {place.split(":")[1] for one in faults if one.kind == "crash_at" for place in one.more["places"]}
    assert places == set(KINDS), "a worker dies around every kind of effect"
    doors = {(one.more["method"], one.more["path"]) for one in faults if one.kind == "pager"}
    assert doors == set(scenario.PAGER_DOORS)


def test_everything_happens_within_the_time_and_after_its_declaration() -> None:
    found = scenario.drawn(3, minutes=2)
    declared_s = {one.incident: one.at_s for one in found.acts if one.kind == "declare"}
    assert all(declared_s[one.incident] <= one.at_s <= 120 for one in found.acts)
    assert all(0 <= one.at_s <= 120 for one in found.faults)
    assert [one.at_s for one in found.acts] == sorted(one.at_s for one in found.acts)


def test_every_act_has_a_word_of_its_own_that_is_nothing_but_letters() -> None:
    words = Counter(one.word for one in scenario.drawn(5, minutes=10).acts)
    assert set(words.values()) == {1}
    assert all(word.isalpha() for word in words)


def test_those_who_may_not_act_do_so_too() -> None:
    retypes = {one.who for one in scenario.drawn(2, minutes=10).acts if one.kind == "retype"}
    assert retypes & set(scenario.GUESTS)
    assert retypes & set(scenario.OUTSIDERS)


def test_with_two_seeds_of_four_what_is_acknowledged_rings_again(tmp_path: Path) -> None:
    assert [accounts.SETTING in accounts.drawn(seed, folder=tmp_path) for seed in (4, 8)] == [False, False]
    for seed in (2, 3):
        about = account.read(Path(accounts.drawn(seed, folder=tmp_path)[accounts.SETTING]))
        assert {one.get("acknowledgement_timeout") for one in about["services"]} == {accounts.RUNS_OUT_S}


def test_with_every_other_seed_the_fallback_leads_to_another_service(tmp_path: Path) -> None:
    assert accounts.drawn(4, folder=tmp_path) == {}
    path = accounts.drawn(5, folder=tmp_path)[accounts.SETTING]
    about = account.read(Path(path))
    leads = {one["name"] for one in about["services"] for to in one.get("integrations", ()) if to["key"] == "fallback"}
    assert leads == {accounts.ELSEWHERE}
    assert {**about, "services": ...} == {**account.read(), "services": ...}


def test_with_two_seeds_of_seven_the_database_is_put_back_once_with_time_left() -> None:
    for seed in range(14):
        found = [one for one in scenario.drawn(seed, minutes=10).faults if one.kind == "restore"]
        assert len(found) == (seed % 7 in RESTORED)
        assert all(one.at_s > 60 and one.at_s + one.length_s < 400 for one in found)


def test_with_two_other_seeds_of_seven_two_keys_are_exchanged_and_each_in_some() -> None:
    drawn = {
        seed: [one for one in scenario.drawn(seed, minutes=1).faults if one.kind == "exchange"] for seed in range(70)
    }
    assert {seed % 7 for seed, found in drawn.items() if found} == set(EXCHANGED)
    assert all(len({one.more["key"] for one in found}) == 2 for found in drawn.values() if found)
    assert {one.more["key"] for found in drawn.values() for one in found} == set(KEYS) == set(keys.EXCHANGED)


def test_with_two_more_seeds_of_seven_a_vendor_is_out_once_in_each_way_and_time_is_left() -> None:
    drawn = {
        seed: [one for one in scenario.drawn(seed, minutes=1).faults if one.kind == "outage"] for seed in range(700)
    }
    assert {seed % 7 for seed, found in drawn.items() if found} == set(OUT)
    assert all(len(found) == 1 and found[0].at_s + found[0].length_s < 40 for found in drawn.values() if found)
    ways = {(one.more["vendor"], one.more["fault"]) for found in drawn.values() for one in found}
    assert ways == {(vendor, way) for vendor, ways in WAYS.items() for way in ways}
