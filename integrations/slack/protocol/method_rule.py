"""What one Web API method requires, what is read of its answer, and the errors it may return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from integrations.answer_shape import AnswerShape, shape
from integrations.slack.protocol.limits import Tier


def words(text: str) -> frozenset[str]:
    """Return the distinct words of a text."""
    return frozenset(text.split())


COMMON_ERRORS: Final = words(
    """
    invalid_arguments invalid_auth not_authed account_inactive token_revoked token_expired missing_scope
    not_allowed_token_type ratelimited fatal_error internal_error service_unavailable request_timeout
    team_access_not_granted ekm_access_denied two_factor_setup_required
    access_denied accesslimited deprecated_endpoint enterprise_is_restricted invalid_arg_name invalid_array_arg
    invalid_charset invalid_form_data invalid_post_type is_bot method_deprecated missing_post_type no_permission
    org_login_required team_added_to_org
    """
)
"""Errors every method may answer with, as each page of the reference lists them."""

AS_PERSON: Final = {"channels:manage": "channels:write", "channels:join": "channels:write"}
"""What a person's token holds in place of a bot's: the reference lists both for each method."""

RETRYABLE: Final = words(
    """
    ratelimited rate_limited service_unavailable internal_error fatal_error request_timeout
    org_login_required team_added_to_org external_channel_migrating
    fetch_members_failed file_update_failed update_failed
    """
)
"""Errors after which the same call may be tried again; after `fatal_error` the work may already be done. Those of the
second line last while Slack moves a workspace into an organisation, or a shared channel along with one."""


@dataclass(frozen=True, slots=True)
class MethodRule:
    """One method: its tier, its scopes (any one suffices), its arguments and its specific errors.

    ``scopes`` are those of a bot, if bots may call it at all. ``answer`` is what Firekind reads of its answer.
    """

    tier: Tier
    scopes: frozenset[str]
    required: tuple[str, ...]
    optional: frozenset[str]
    errors: frozenset[str]
    writes: bool
    tokens: frozenset[str] = field(default=frozenset({"bot", "user"}))
    answer: AnswerShape = ()

    def scopes_of(self, caller: str) -> frozenset[str]:
        """Return the scopes that allow a ``bot``, ``user`` or ``app`` token to call it; any one of them suffices."""
        if caller not in self.tokens:
            return frozenset()
        return frozenset(AS_PERSON.get(one, one) for one in self.scopes) if caller == "user" else self.scopes

    def allows(self, argument: str) -> bool:
        """Return whether Slack knows this argument."""
        return argument in self.optional or argument in self.required


def reads(tier: Tier, scopes: str, arguments: str, errors: str = "", answer: str = "") -> MethodRule:
    """Define a method that only reads; required arguments end in `!`."""
    return _rule(tier, scopes, arguments, errors, answer, writes=False)


def writes(
    tier: Tier, scopes: str, arguments: str, errors: str = "", tokens: str = "bot user", answer: str = ""
) -> MethodRule:
    """Define a method that changes something."""
    return _rule(tier, scopes, arguments, errors, answer, writes=True, tokens=tokens)


def _rule(
    tier: Tier, scopes: str, arguments: str, errors: str, answer: str, *, writes: bool, tokens: str = "bot user"
) -> MethodRule:
    names = arguments.split()
    return MethodRule(
        tier=tier,
        scopes=frozenset(scopes.split()),
        required=tuple(name[:-1] for name in names if name.endswith("!")),
        optional=frozenset(name for name in names if not name.endswith("!")),
        errors=frozenset(errors.split()),
        writes=writes,
        tokens=frozenset(tokens.split()),
        answer=shape(answer),
    )
