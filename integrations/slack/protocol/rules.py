"""The rules of each Slack Web API method, as one compact table.

The adapter uses it for a method's rate tier and expected errors; the stand-in workspace enforces the rest. It follows
the reference at https://docs.slack.dev/reference/methods. A test compares the two method by method and lists each
difference with its reason.
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
