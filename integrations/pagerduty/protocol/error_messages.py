"""PagerDuty's errors in words for a tired person: what is wrong, and the next step."""

from __future__ import annotations

from typing import Final

NEW_KEY: Final = "Set PAGERDUTY_API_KEY to a valid REST API key and restart."
SENDER: Final = "Set PAGERDUTY_FROM to the email of a PagerDuty user and restart."
RIGHTS: Final = "Give the key's user the role listed in docs/oncall.md, then retry."
LATER: Final = "Retrying automatically."

# By PagerDuty's own code: https://developer.pagerduty.com/docs/errors
WORDS: Final[dict[str, str]] = {
    "1001": "The page is already resolved.",
    "1002": "The page is already acknowledged.",
    "1007": "PagerDuty no longer has this person. Page someone else.",
    "1008": f"PAGERDUTY_FROM is not a PagerDuty user. {SENDER}",
    "1014": "The escalation policy no longer exists in PagerDuty. Page another one.",
    "1015": "No one is on call for this escalation policy. Page another one, or contact someone yourself.",
    "1018": f"PagerDuty does not let this user do that. {RIGHTS}",
    "1019": "The page was merged into another one in PagerDuty.",
    "2001": "PagerDuty rejected the page as invalid. Please report this as a bug.",
    "2002": "PagerDuty rejected the page. Check there whether one is already open, then retry.",
    "2006": f"PagerDuty does not accept the key. {NEW_KEY}",
    "2007": f"PagerDuty has no account for the key. {NEW_KEY}",
    "2008": "The PagerDuty account is locked. Ask its owner, then retry.",
    "2010": f"PagerDuty does not let this key do that. {RIGHTS}",
    "2012": "The PagerDuty account has expired. Ask its owner, then retry.",
    "2013": "PagerDuty no longer has this person. Page someone else.",
    "2014": "The PagerDuty plan does not include this. Do it there by hand, or ask the account's owner.",
    "2016": f"PagerDuty doesn't recognise the sender of the page. {SENDER}",
    "2018": "PagerDuty no longer shows this page to the key's user. Check it in PagerDuty.",
    "2100": "PagerDuty has nothing with that ID; it may have been deleted. Check in PagerDuty.",
    "5001": "PagerDuty has nothing with that ID; it may have been deleted. Check in PagerDuty.",
    "5002": "The service no longer exists in PagerDuty. Set PAGERDUTY_SERVICE to another one.",
    # For answers without a code of their own.
    "http_401": f"PagerDuty does not accept the key. {NEW_KEY}",
    "http_402": "The PagerDuty plan does not include this. Do it there by hand, or ask the account's owner.",
    "http_403": f"PagerDuty does not let this key do that. {RIGHTS}",
    "http_404": "PagerDuty has nothing with that ID; it may have been deleted. Check in PagerDuty.",
    "moved": "PagerDuty has moved to a different address. Check PAGERDUTY_API_URL (accounts in the EU have their own).",
    # Errors that the adapter detects itself.
    "no_service": "There is no service to open this page on. Set PAGERDUTY_SERVICE, then retry.",
    "service_off": (
        "The service is disabled or in a maintenance window in PagerDuty, so it pages no one. Page another target, or "
        "switch the service on again, then retry."
    ),
    "own_sender": (
        "This is the user in PAGERDUTY_FROM, and PagerDuty never notifies the sender of a page. Page someone "
        "else, or set PAGERDUTY_FROM to a dedicated user."
    ),
    "fallback_refused": (
        "PagerDuty is not available, and the fallback rejected the page too. Check "
        "PAGERDUTY_ROUTING_KEY; call them if it cannot wait. Retrying automatically."
    ),
    "no_fallback": "This page was sent through the fallback, which is no longer set up. Resolve it in PagerDuty.",
    "not_a_user": (
        "PagerDuty no longer has a user with this person's email. Acknowledge it in PagerDuty, or ask someone else who "
        "was paged."
    ),
    "may_not_acknowledge": (
        "PagerDuty does not let this person, or Firekind's key, acknowledge this page. Acknowledge it in PagerDuty, or "
        "ask someone else who was paged."
    ),
    "bad_target": "This cannot be paged: only an escalation policy, a service or a person can.",
    # Temporary ones, which are retried automatically.
    "connection_failed": f"PagerDuty could not be reached. {LATER}",
    "connection_lost": "The connection to PagerDuty was lost. Checking and retrying automatically.",
    "may_have_rung": (
        "PagerDuty cannot confirm whether this page went out, so no one is paged twice. Checking again "
        "automatically; call them if it cannot wait."
    ),
    "ratelimited": f"PagerDuty is rate limiting. {LATER}",
    "unavailable": f"PagerDuty is not available right now. {LATER}",
    "unreadable_answer": (
        "PagerDuty's answer could not be read; a proxy may have answered in its place. Checking and retrying "
        "automatically."
    ),
}


# Codes that mean that our request was wrong, which no one can fix in PagerDuty.
OURS: Final = frozenset({"1003", "1006", "1020", "2003", "2004", "2005", "2015", "3001", "4004"})


def words(code: str) -> str:
    """Return the message for a code, with what to do next."""
    if code in OURS:
        return f"PagerDuty rejected Firekind's request ({code}). Please report this as a bug."
    says = f"PagerDuty responded with {code.replace('_', ' ')}. Check there, then retry."
    return WORDS.get(code, says)
