"""For every error that a method we call may return, people read a sentence about it and what can be done."""

from __future__ import annotations

import re

import pytest

from integrations.pagerduty.protocol import error_messages as pager_words
from integrations.pagerduty.protocol import rules as pager_rules
from integrations.slack.protocol import error_messages
from integrations.slack.protocol.installation import METHODS, WITH_ADMIN_TOKEN
from integrations.slack.protocol.rules import COMMON_ERRORS, RULES

CODES = sorted(COMMON_ERRORS.union(*(RULES[method].errors for method in (*METHODS, *WITH_ADMIN_TOKEN))))
# Errors about arguments, which the reference names in one style; no one can fix any of them in Slack.
OF_ARGUMENTS = re.compile(r"(invalid|missing)_|_too_(long|large)$|_deprecated$|^no_(text|user|item)|bad_timestamp")
MENDED = {"invalid_auth", "missing_scope", "missing_argument", "metadata_too_large"}


@pytest.mark.parametrize("code", CODES)
def test_no_one_is_told_to_fix_in_slack_what_is_our_bug(code: str) -> None:
    says = error_messages.words(code)
    assert says.endswith(".")
    assert "_" not in says.replace("SLACK_BOT_TOKEN", "").replace("SLACK_CHANNEL_PREFIX", "").replace(
        "slack_manifest", ""
    )
    if OF_ARGUMENTS.search(code) and code not in MENDED and not code.startswith("invalid_name"):
        assert "report this as a bug" in says


def test_the_rules_of_a_name_are_said_as_those_of_a_setting() -> None:
    for code in (one for one in CODES if one.startswith("invalid_name")):
        assert "SLACK_CHANNEL_PREFIX" in error_messages.words(code)


def test_no_number_is_all_that_people_read_of_pagerduty() -> None:
    retried = {"2000", "2020"}
    codes = {str(code) for rule in pager_rules.RULES.values() for code in {*rule.errors, *pager_rules.COMMON_ERRORS}}
    for code in sorted(codes - retried):
        says = pager_words.words(code)
        assert not says.startswith("PagerDuty responded with"), code
