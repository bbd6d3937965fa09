"""The rules of each Slack Web API method, as one compact table.

Both sides read it: the adapter to know a method's rate tier and which errors to expect, the stand-in workspace to
enforce the rest. It says what the reference at https://docs.slack.dev/reference/methods says, with which a test
compares it method by method: what differs is listed there with its reason.
"""

from __future__ import annotations

from typing import Final

from integrations.slack.protocol.channel_rules import CHANNELS
from integrations.slack.protocol.limits import PER_MINUTE, Tier
from integrations.slack.protocol.message_rules import MESSAGES
from integrations.slack.protocol.method_rule import COMMON_ERRORS, RETRYABLE, MethodRule, words
from integrations.slack.protocol.people_rules import PEOPLE
from integrations.slack.protocol.surface_rules import SURFACES

__all__ = ["COMMON_ERRORS", "PER_MINUTE", "RETRYABLE", "RULES", "MethodRule", "Tier", "words"]

RULES: Final[dict[str, MethodRule]] = {**PEOPLE, **CHANNELS, **MESSAGES, **SURFACES}
