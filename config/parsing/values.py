"""How single settings are parsed: an address, a number, a flag, a word of a certain shape."""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")


class SettingError(ValueError):
    """A setting is missing or malformed; the message is one sentence that names it."""


def url(
    given: Mapping[str, str], name: str, *, schemes: tuple[str, ...], default: str | None = None, several: bool = False
) -> str:
    """Return an address with one of these schemes, and one host or several separated by commas.

    Raises ``SettingError`` if it is missing or malformed.
    """
    value = given.get(name, default)
    if value is None:
        raise SettingError(f"{name} is not set: set it, or use `make demo` or `make run`, which start what it names.")
    if value == default:
        return value
    if re.search(r"\s", value):
        raise SettingError(f"{name} must have no space in it; within a password it is written %20.")
    try:
        parts = urlsplit(value)
        where = parts.netloc.rpartition("@")[2]
        hosts = [urlsplit(f"//{host}") for host in (where.split(",") if several else [where])]
        _ = [host.port for host in hosts]
    except ValueError:
        raise SettingError(
            f"{name} is not a valid address: in a password, write @ : / ? # and % as %40 and so on."
        ) from None
    if parts.scheme not in schemes or not (parts.netloc or parts.query or parts.scheme == "redis+socket"):
        raise SettingError(f"{name} must be an address that starts with {schemes[0]}://.")
    for host in hosts:
        if not _can_be_looked_up(host.hostname or ""):
            raise SettingError(f"{name} has the host {(host.hostname or '')[:80]!r}, which no host can be called.")
    return value


def _can_be_looked_up(host: str) -> bool:
    """Return whether DNS can be asked for a name; if not, Python's own lookup would end in an error."""
    try:
        host.encode("idna")
    except UnicodeError:
        return "%" in host  # the folder of a socket, or the zone of an address
    return True


def without_login(name: str, value: str) -> str:
    """Return an address that is shown to people. Raises ``SettingError`` if it contains a user or a password."""
    if "@" in split(value).netloc:
        raise SettingError(f"{name} must have no user or password in it: they have settings of their own.")
    return value


def split(address: str) -> SplitResult:
    """Split an address into its parts; all are empty if it is malformed, which the reader of the setting reports."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")


def whole(given: Mapping[str, str], name: str, *, default: int, low: int, high: int) -> int:
    """Return a whole number within bounds. Raises ``SettingError`` for anything else."""
    value = given.get(name, str(default)).strip()
    if not re.fullmatch(r"\d{1,6}", value, re.ASCII) or not low <= int(value) <= high:
        raise SettingError(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
    return int(value)


def flag(given: Mapping[str, str], name: str, *, default: str = "off") -> bool:
    """Return whether a setting is on. Raises ``SettingError`` for anything but on or off."""
    value = given.get(name, default).strip().lower()
    if value not in {"1", "true", "yes", "on", "0", "false", "no", "off"}:
        raise SettingError(f"{name} must be on or off, not {value!r}.")
    return value in {"1", "true", "yes", "on"}


def safe(given: Mapping[str, str], name: str, *, default: str) -> str:
    """Return an address reached over TLS, or one on this machine: the sandbox's.

    Raises ``SettingError`` for anything else.
    """
    value = url(given, name, schemes=("https", "http"), default=default)
    if urlsplit(value).scheme != "https" and not is_here(value):
        raise SettingError(f"{name} must start with https://; http:// is for this machine only.")
    return value.rstrip("/")


def is_here(address: str, *, schemes: tuple[str, ...] = ("http", "https")) -> bool:
    """Return whether an address is on this machine, where no one else reaches it; malformed ones are not."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
        if parts.scheme not in schemes or "@" in parts.netloc or "\\" in address:
            return False
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def networks(given: Mapping[str, str], name: str) -> str:
    """Return addresses and networks, separated by commas; a star, meaning everyone, is not accepted.

    Raises ``SettingError`` for anything else.
    """
    value = given.get(name, "")
    for one in filter(None, (part.strip() for part in value.split(","))):
        try:
            ipaddress.ip_network(one)
        except ValueError:
            raise SettingError(f"{name} must be addresses or networks with commas between, not {one!r}.") from None
    return value


def secret(given: Mapping[str, str], name: str) -> str:
    """Return a secret as it is, empty if it is not set. Raises ``SettingError``, without the value."""
    value = given.get(name, "")
    if not re.fullmatch(r"[!#-&(-;=?-~]*", value):
        raise SettingError(f"{name} has a space, a quote or a letter in it that no key has: copy it again.")
    return value


def secrets(given: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return several secrets separated by commas. Raises ``SettingError``, without any of the values."""
    found = (one.strip() for one in given.get(name, "").split(","))
    return tuple(secret({name: one}, name) for one in found if one)


def require(given: Mapping[str, str], name: str, *, because: str) -> None:
    """Raise SettingError if a name is not set, with the reason why it is needed."""
    if name not in given:
        raise SettingError(f"{name} is not set, but {because}.")


def shaped(given: Mapping[str, str], name: str, default: str, shape: str, words: str) -> str:
    """Return a value of a certain shape, which ``words`` describes. Raises ``SettingError`` for anything else."""
    value = given.get(name, default)
    if not re.fullmatch(shape, value):
        raise SettingError(f"{name} must be {words}, not {value!r}.")
    return value
