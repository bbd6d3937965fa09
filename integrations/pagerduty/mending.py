"""What PagerDuty's refusals mean, in words for a tired person: what is wrong, and the next step."""

from __future__ import annotations

from typing import Final

NEW_KEY: Final = "Put a valid REST API key into PAGERDUTY_API_KEY and restart."
SENDER: Final = "Put the e-mail of a PagerDuty user into PAGERDUTY_FROM and restart."
RIGHTS: Final = "Give the key's user the role that docs/oncall.md names, then press retry."
LATER: Final = "It is tried again by itself."

# By PagerDuty's own code: https://developer.pagerduty.com/docs/errors
WORDS: Final[dict[str, str]] = {
    "1001": "The page is resolved already.",
    "1002": "The page is acknowledged already.",
    "1007": "PagerDuty knows this person no more. Page somebody else.",
    "1008": f"PAGERDUTY_FROM is nobody that PagerDuty knows. {SENDER}",
    "1014": "The escalation policy is gone from PagerDuty. Page another one.",
    "1015": "Nobody is on call for this escalation policy. Page another one, or ask somebody by hand.",
    "1018": f"PagerDuty does not let this user do that. {RIGHTS}",
    "1019": "The page was merged into another one in PagerDuty.",
    "2001": "PagerDuty does not take the page as it is. Please report this as a bug.",
    "2002": "PagerDuty does not take the page as it is. Look there whether one is open already, then press retry.",
    "2006": f"PagerDuty does not accept the key. {NEW_KEY}",
    "2007": f"PagerDuty does not know the key's account. {NEW_KEY}",
    "2008": "The PagerDuty account is locked. Ask its owner, then press retry.",
    "2010": f"PagerDuty does not let this key do that. {RIGHTS}",
    "2012": "The PagerDuty account has expired. Ask its owner, then press retry.",
    "2014": "The PagerDuty plan does not include this. Do it there by hand, or ask the account's owner.",
    "2018": "PagerDuty no longer shows this page to the key's user. Look there.",
    "2100": "PagerDuty knows nothing of that id; it may be gone. Look there.",
    "5001": "PagerDuty knows nothing of that id; it may be gone. Look there.",
    "5002": "The service is gone from PagerDuty. Name another one in PAGERDUTY_SERVICE.",
    # Where the answer carries no code of its own.
    "http_401": f"PagerDuty does not accept the key. {NEW_KEY}",
    "http_402": "The PagerDuty plan does not include this. Do it there by hand, or ask the account's owner.",
    "http_403": f"PagerDuty does not let this key do that. {RIGHTS}",
    "http_404": "PagerDuty knows nothing of that id; it may be gone. Look there.",
    "moved": "PagerDuty answers from another address. Check PAGERDUTY_API_URL (accounts in the EU have their own).",
    # What the adapter finds out by itself.
    "no_service": "There is no service to open this page on. Name one in PAGERDUTY_SERVICE, then press retry.",
    "own_sender": "This is the user of PAGERDUTY_FROM, whom PagerDuty never rings. Page somebody else, "
    "or open pages in the name of a user of their own.",
    "fallback_refused": "PagerDuty is not available, and the fallback did not take the page either. Check "
    "PAGERDUTY_ROUTING_KEY; phone them if it cannot wait. It is tried again by itself.",
    "no_fallback": "This page was sent by the fallback, which is set up no more. Resolve it in PagerDuty.",
    "bad_target": "This cannot be paged: only a policy, a service or a person can.",
    # Passing ones: tried again by themselves.
    "connection_failed": f"PagerDuty could not be reached. {LATER}",
    "connection_lost": "The connection to PagerDuty broke. It is looked at and tried again by itself.",
    "may_have_rung": "PagerDuty cannot be asked whether this page rang already, so nobody is rung a second time. "
    "It is looked at again by itself; phone them if it cannot wait.",
    "ratelimited": f"PagerDuty asked to wait. {LATER}",
    "unavailable": f"PagerDuty is not available right now. {LATER}",
    "unreadable_answer": "PagerDuty's answer could not be read. It is looked at and tried again by itself.",
}


def words(code: str) -> str:
    """Say what a code means, and what to do next."""
    says = f"PagerDuty refused with {code.replace('_', ' ')}. Look there, then press retry."
    return WORDS.get(code, says)
