"""The sandbox is only for this machine: its settings must be complete, or absent.

Anyone may open it, and the secrets its stand-ins share with the app are published here. So if any part of it is set,
such as its address, a published secret, a stand-in's address or DEBUG, Firekind starts only if every address is on this
machine, no sign-in provider is set, and no token of a real workspace or account is given.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from config.parsing.values import LOOPBACK_HOSTS, SettingError, flag, is_here, split

Given = Mapping[str, str]
BOT_TOKEN, APP_TOKEN, PAGER_KEY = "xoxb-sandbox", "xapp-sandbox", "sandbox"
NEXT_BOT_TOKEN, NEXT_PAGER_KEY = "xoxb-sandbox-next", "sandbox-next"  # what they are exchanged for there
PUBLISHED: Final = {
    *(BOT_TOKEN, NEXT_BOT_TOKEN, APP_TOKEN, PAGER_KEY, NEXT_PAGER_KEY),
    "sandbox0routing0key0000000000000",
}
# How keys begin that a compose file, a test or the sandbox itself ever shipped with.
BEGINNINGS: Final = ("opens-only-the-sandbox", "only-for-tests", "a-key-for-checking-the-deployment")
SECRETS: Final = (
    "SECRET_KEY",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "SLACK_APP_TOKEN",
    "SLACK_ADMIN_TOKEN",
    "PAGERDUTY_API_KEY",
    "PAGERDUTY_WEBHOOK_SECRETS",
    "PAGERDUTY_ROUTING_KEY",
    "TRACKER_TOKEN",
    "TRACKER_WEBHOOK_SECRETS",
    "OIDC_CLIENT_SECRET",
    "SLACK_CLIENT_SECRET",
)
STAND_INS: Final = ("SLACK_API_URL", "PAGERDUTY_API_URL", "PAGERDUTY_EVENTS_URL")
PROVIDERS: Final = ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET")
# The settings that exist only for the sandbox, and what each does.
ITS_OWN: Final = {
    "FIREKIND_SANDBOX_URL": "with which anyone signs in as anyone",
    "FIREKIND_PROFILED_URL": "which is the sandbox's",
    "FIREKIND_CODENAMES": "under which incidents could be guessed",
    "FIREKIND_CRASH_AT": "which ends workers in tests",
}


def check(given: Given) -> None:
    """Raise SettingError if part of the sandbox is set and the rest does not match the demo on this machine."""
    for found, instead in _signs(given):
        for wrong in _in_earnest(given):
            raise SettingError(f"{found}: {instead}, or for the demo on this machine {wrong}.")
    _check_issuer(given)
    _check_database(given)


def _signs(given: Given) -> Iterator[tuple[str, str]]:
    """Yield what is set that belongs to the sandbox, and what a real deployment does instead."""
    for name, does in ITS_OWN.items():
        if name in given:
            yield f"{name} is set, {does}", "leave it out"
    for name in SECRETS:
        if any(_is_published(one.strip()) for one in given.get(name, "").split(",")):
            yield f"{name} is published with Firekind's code", "set one of your own"
    for name in STAND_INS:
        if name in given and split(given[name]).scheme == "http":
            yield f"{name} starts with http://, as only the sandbox's does", "leave it out"
    if flag(given, "DEBUG"):
        yield "DEBUG is on, which shows code and settings to anyone who meets an error", "turn it off"


def _in_earnest(given: Given) -> Iterator[str]:
    """Yield what would have to be changed for all of it to be the demo on this machine."""
    for rule in RULES:
        yield from rule(given)


def _addresses(given: Given) -> Iterator[str]:
    if not is_here(given.get("FIREKIND_BASE_URL", "http://127.0.0.1"), schemes=("http",)):
        yield "set FIREKIND_BASE_URL to an address of this machine, such as http://127.0.0.1:8000"
    host = given.get("HOST", "127.0.0.1")
    if not is_here(f"http://[{host}]" if ":" in host else f"http://{host}"):
        yield "set HOST to 127.0.0.1"
    hosts = [name.strip() for name in given.get("ALLOWED_HOSTS", "").split(",")]
    if not {*hosts} <= {*LOOPBACK_HOSTS, ""}:
        yield "leave ALLOWED_HOSTS empty"
    for name in ("FIREKIND_SANDBOX_URL", "FIREKIND_PROFILED_URL"):
        if name in given and not is_here(given[name]):
            yield f"set {name} to an address of this machine"


def _no_provider(given: Given) -> Iterator[str]:
    found = [name for name in PROVIDERS if name in given]
    if found:
        yield f"leave {' and '.join(found)} out"


def _stand_ins(given: Given) -> Iterator[str]:
    """Slack and PagerDuty must be the sandbox's, or not set."""
    if any(name in given for name in ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_APP_TOKEN")):
        yield from _is(given, "SLACK_BOT_TOKEN", BOT_TOKEN, NEXT_BOT_TOKEN)
        yield from _points_here(given, "SLACK_API_URL")
    if given.get("SLACK_APP_TOKEN", APP_TOKEN) != APP_TOKEN:
        yield "leave SLACK_APP_TOKEN out"
    if "SLACK_ADMIN_TOKEN" in given:
        yield "leave SLACK_ADMIN_TOKEN out"
    if "PAGERDUTY_API_KEY" in given:
        yield from _is(given, "PAGERDUTY_API_KEY", PAGER_KEY, NEXT_PAGER_KEY)
        yield from _points_here(given, "PAGERDUTY_API_URL")
        yield from _points_here(given, "PAGERDUTY_EVENTS_URL")
    if "TRACKER" in given:
        yield from _points_here(given, "TRACKER_URL")


def _whole(given: Given) -> Iterator[str]:
    """Parts of the sandbox need the sandbox; DEBUG and a published key may be used without it."""
    parts = [name for name in (*STAND_INS, "FIREKIND_PROFILED_URL") if name in given]
    if (parts or given.get("SLACK_BOT_TOKEN") in {BOT_TOKEN, NEXT_BOT_TOKEN}) and "FIREKIND_SANDBOX_URL" not in given:
        yield "set FIREKIND_SANDBOX_URL to where the sandbox is, as `make demo` does"


RULES: Final[tuple[Callable[[Given], Iterator[str]], ...]] = (_addresses, _no_provider, _stand_ins, _whole)


def _is(given: Given, name: str, value: str, exchanged: str) -> Iterator[str]:
    if given.get(name) not in {value, exchanged}:
        yield f"set {name} to the sandbox's, {value}"


def _points_here(given: Given, name: str) -> Iterator[str]:
    if not is_here(given.get(name, "")):
        yield f"set {name} to the sandbox's address on this machine"


def _is_published(value: str) -> bool:
    return value in PUBLISHED or value.startswith(BEGINNINGS)


def _check_issuer(given: Given) -> None:
    """Refuse a provider on this machine if people come from elsewhere: only a stand-in is one."""
    here = is_here(given.get("FIREKIND_BASE_URL", "http://127.0.0.1"), schemes=("http",))
    if split(given.get("OIDC_ISSUER", "")).scheme == "http" and not here:
        raise SettingError("OIDC_ISSUER starts with http://, which is for trials on this machine: use https://.")


def _check_database(given: Given) -> None:
    """Refuse the default password that docker-compose.yml once had, for a database that others may reach."""
    parts = split(given.get("DATABASE_URL", ""))
    here = is_here(given.get("FIREKIND_BASE_URL", "http://127.0.0.1")) or is_here(f"http://{parts.hostname}")
    if parts.password == "firekind" and not here:  # noqa: S105 (to refuse it)
        raise SettingError(
            "DATABASE_URL has the password that docker-compose.yml once published: set another with ALTER ROLE "
            "firekind PASSWORD, and put it into POSTGRES_PASSWORD or DATABASE_URL."
        )
