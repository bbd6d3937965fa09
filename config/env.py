"""The settings of the stack, read once from the environment, typed and checked.

A name is looked for in this order, and the first hit wins: the environment, `.env` in the project's folder or in
`FIREKIND_HOME`, and `running.env` in the data folder, which a running stack writes so that `manage.py` in another
terminal reaches it. A name with an empty value counts as not set, and hides the later places.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from config import logs
from config.parsing import addresses, cleaning, mail, sandbox, signing_in, tracing_settings, tracker, vendor_settings
from config.parsing.mail import MailSettings
from config.parsing.misspelt import meant
from config.parsing.signing_in import SignInSettings
from config.parsing.tracing_settings import TracingSettings
from config.parsing.tracker import TrackerSettings
from config.parsing.values import LOOPBACK_HOSTS, flag, networks, safe, shaped, url, whole, without_login
from config.parsing.values import SettingError as SettingError  # noqa: PLC0414 (readers of settings catch it)
from config.parsing.vendor_settings import PagerDutySettings, Slack

ROOT = Path(__file__).resolve().parent.parent
# Where settings and data are: in the project's folder, or in `FIREKIND_HOME`, as when installed from a wheel.
HOME = Path(os.environ.get("FIREKIND_HOME") or ROOT).resolve()
# Every name this project reads, in the order of `.env.example`.
NAMES = (
    "DATABASE_URL",
    "DATABASE_DIRECT_URL",
    "BROKER_URL",
    "REDIS_URL",
    "FIREKIND_DATA_DIR",
    "FIREKIND_BASE_URL",
    "HOST",
    "PORT",
    "WEB_WORKERS",
    "FORWARDED_ALLOW_IPS",
    "SECRET_KEY",
    "ALLOWED_HOSTS",
    "DEBUG",
    "INCIDENT_TYPES_FILE",
    "RUNBOOK_FILE",
    "SLACK_API_URL",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "SLACK_APP_TOKEN",
    "SLACK_ADMIN_TOKEN",
    "SLACK_ANNOUNCE_CHANNEL",
    "SLACK_COMMAND",
    "SLACK_CHANNEL_PREFIX",
    "SLACK_TEAM_ID",
    "SLACK_BOT_USER_ID",
    "SLACK_CAPTURE_REACTION",
    "PAGERDUTY_API_URL",
    "PAGERDUTY_API_KEY",
    "PAGERDUTY_FROM",
    "PAGERDUTY_SERVICE",
    "PAGERDUTY_WEBHOOK_SECRETS",
    "PAGERDUTY_EVENTS_URL",
    "PAGERDUTY_ROUTING_KEY",
    *tracker.NAMES,
    *mail.NAMES,
    *signing_in.NAMES,
    "EVIDENCE_STORAGE_URL",
    "EVIDENCE_MAX_MIB",
    "EVIDENCE_IN_WORKER",
    "PROFILE_SOURCES_FILE",
    "AUDIT_HEAD_CHANNEL",
    "AUDIT_HEAD_WEBHOOK",
    "METRICS_TOKEN",
    "LOG_FORMAT",
    *tracing_settings.NAMES,
    "FIREKIND_LEASE_S",
    "FIREKIND_SANDBOX_URL",
    "FIREKIND_PROFILED_URL",
    "FIREKIND_CODENAMES",
    "FIREKIND_CRASH_AT",
)
RUNNING = "running.env"
BUCKETS = ("s3", "gs", "az")


@dataclass(frozen=True, slots=True, kw_only=True)
class Env:
    """Every setting, parsed. `slack`, `pagerduty`, `tracker` and `mail` are None if they are not configured."""

    database_url: str
    database_direct_url: str  # bypasses a connection pooler; empty if there is none
    broker_url: str
    data_dir: Path
    base_url: str
    host: str
    port: int
    web_workers: int
    proxies: str
    secret_key: str
    allowed_hosts: tuple[str, ...]
    debug: bool
    incident_types_file: Path
    runbook_file: Path | None
    evidence_storage: str
    evidence_max_mib: int
    evidence_in_worker: bool
    profile_sources_file: Path | None
    named: Mapping[str, str] = field(repr=False, compare=False)  # everything set, for lists that name variables
    audit_channel: str
    audit_webhook: str
    metrics_token: str
    log_format: str
    lease_s: int
    sandbox_url: str
    codenames: tuple[str, ...]
    slack: Slack | None
    pagerduty: PagerDutySettings | None
    tracker: TrackerSettings | None
    mail: MailSettings | None
    sign_in: SignInSettings
    tracing: TracingSettings | None

    @property
    def https(self) -> bool:
        """Return whether people reach this over TLS."""
        return self.base_url.startswith("https://")


def load() -> Env:
    """Read the settings, or end the process with one sentence on stderr and exit code 2."""
    try:
        return read(present(reach(given())))
    except SettingError as error:
        print(f"firekind: {error}{_slips()}{_of_a_running_stack()}", file=sys.stderr)
        raise SystemExit(2) from None


def _slips() -> str:
    """Name probable misspellings of settings: one of them may be the setting that is missing."""
    try:
        found = meant(given(), NAMES)
    except SettingError:
        return ""
    return "".join(f" {wrong} is not a setting: did you mean {right}?" for wrong, right in sorted(found.items()))


def _of_a_running_stack() -> str:
    """Explain where values may come from that the operator did not set."""
    try:
        folder = data_dir(given())
    except SettingError:  # a file that cannot be read has its own error
        return ""
    is_there = (folder / RUNNING).exists()
    return f" What you did not set comes from the stack that is running on {folder.name}." if is_there else ""


def given() -> dict[str, str]:
    """Merge what people set: `.env`, overridden by the environment. Raises SettingError."""
    return cleaning.cleaned(parse_file(HOME / ".env") | dict(os.environ), NAMES)


def reach(given: Mapping[str, str]) -> dict[str, str]:
    """Fill in what is not set from the stack that runs on the same data folder, if one does."""
    return parse_file(data_dir(given) / RUNNING) | dict(given)


def present(given: Mapping[str, str]) -> dict[str, str]:
    """Drop the names with an empty value."""
    return {name: value for name, value in given.items() if value.strip()}


def parse_file(path: Path) -> dict[str, str]:
    """Parse `NAME=value` lines; `#` starts a comment line, quotes around a value are dropped.

    Raises ``SettingError`` with the line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # some Windows editors write a byte order mark
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError):
        raise SettingError(f"{path.name} cannot be read as text.") from None
    pairs = [(n, line.strip()) for n, line in enumerate(lines, start=1)]
    return dict(_pair(path, n, line) for n, line in pairs if line and not line.startswith("#"))


def _pair(path: Path, n: int, line: str) -> tuple[str, str]:
    match = re.fullmatch(r"(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)", line)
    if match is None:
        raise SettingError(f"{path.name}, line {n}, is not of the form NAME=value.")
    return match[1], cleaning.unquoted(match[2])


def read(given: Mapping[str, str]) -> Env:
    """Parse every setting. Raises SettingError for the first one that is missing, malformed or in conflict."""
    base_url = addresses.base_url(given, port=port(given))
    sandbox.check(given)
    return Env(
        database_url=addresses.database(given, "DATABASE_URL"),
        database_direct_url=addresses.database(given, "DATABASE_DIRECT_URL", default=""),
        broker_url=addresses.broker_url(given),
        data_dir=data_dir(given),
        base_url=base_url,
        host=addresses.host(given),
        port=port(given),
        web_workers=whole(given, "WEB_WORKERS", default=1, low=1, high=64),
        proxies=networks(given, "FORWARDED_ALLOW_IPS"),
        secret_key=_secret_key(given),
        allowed_hosts=_hosts(given, base_url),
        debug=flag(given, "DEBUG"),
        incident_types_file=_file(given, "INCIDENT_TYPES_FILE") or _named("fixtures/incident_types.yaml"),
        runbook_file=_file(given, "RUNBOOK_FILE"),
        evidence_storage=_storage(given),
        evidence_max_mib=whole(given, "EVIDENCE_MAX_MIB", default=512, low=1, high=100_000),
        evidence_in_worker=flag(given, "EVIDENCE_IN_WORKER"),
        profile_sources_file=_file(given, "PROFILE_SOURCES_FILE"),
        named=given,
        audit_channel=vendor_settings.channel(given, "AUDIT_HEAD_CHANNEL"),
        audit_webhook=safe(given, "AUDIT_HEAD_WEBHOOK", default="") if "AUDIT_HEAD_WEBHOOK" in given else "",
        metrics_token=_metrics_token(given),
        log_format=shaped(given, "LOG_FORMAT", logs.FORMS[0], "|".join(logs.FORMS), " or ".join(logs.FORMS)),
        lease_s=whole(given, "FIREKIND_LEASE_S", default=30, low=1, high=3600),
        sandbox_url=url(given, "FIREKIND_SANDBOX_URL", schemes=("http", "https"), default=""),
        codenames=_codenames(given),
        slack=vendor_settings.slack(given),
        pagerduty=vendor_settings.pagerduty(given),
        tracker=tracker.read(given),
        mail=mail.read(given),
        sign_in=signing_in.read(given),
        tracing=tracing_settings.read(given),
    )


def data_dir(given: Mapping[str, str]) -> Path:
    """Return the folder that holds what the stack stores on disk."""
    return _at(given.get("FIREKIND_DATA_DIR") or ".data")


def port(given: Mapping[str, str]) -> int:
    """Return the port of the web process; the sandbox listens on the next one."""
    return whole(given, "PORT", default=8000, low=1, high=65534)


def _storage(given: Mapping[str, str]) -> str:
    """Return where evidence is stored: a folder's path, or an address of object storage (s3://bucket/prefix)."""
    value = given.get("EVIDENCE_STORAGE_URL", "")
    if re.match(r"(?!file:)[a-z0-9+]+:/", value, re.IGNORECASE):
        return without_login("EVIDENCE_STORAGE_URL", url(given, "EVIDENCE_STORAGE_URL", schemes=BUCKETS))
    folder = value.removeprefix("file://")
    return str(_at(folder) if folder else data_dir(given) / "evidence")


def _file(given: Mapping[str, str], name: str) -> Path | None:
    """Return the path of an existing file, or None if none is named."""
    if not given.get(name):
        return None
    try:
        path = _named(given[name])
        if path.is_file():
            return path
    except OSError:  # not a possible file name
        pass
    raise SettingError(f"{name} names {given[name]}, which is not a readable file.")


def _named(name: str) -> Path:
    """Return the path of a file in ``HOME``, or of one that comes with the code."""
    return next((path for path in (_at(name), ROOT / name) if path.exists()), _at(name))


def _at(name: str) -> Path:
    """Resolve a path from ``HOME``, or from a user's folder (``~``) that no shell has expanded."""
    try:
        return HOME / Path(name).expanduser()
    except RuntimeError:  # of an unknown user
        return HOME / name


def _secret_key(given: Mapping[str, str]) -> str:
    value = given.get("SECRET_KEY")
    if value is None:
        raise SettingError("SECRET_KEY is not set: use at least 50 random characters and keep them secret.")
    if len(value) < 50 or len(set(value)) < 5:
        raise SettingError("SECRET_KEY is too easy to guess: use at least 50 random characters.")
    return value


def _metrics_token(given: Mapping[str, str]) -> str:
    """Return the token with which Prometheus reads metrics; without one, no one can."""
    value = given.get("METRICS_TOKEN", "")
    if value and not re.fullmatch(r"[!-~]{20,}", value):
        raise SettingError("METRICS_TOKEN must be 20 random characters or more, without spaces.")
    return value


def _codenames(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names that incidents of a demo or screenshot take first, in this order."""
    shape = r"|[a-z]+(-[a-z]+)+(,[a-z]+(-[a-z]+)+)*"
    value = shaped(given, "FIREKIND_CODENAMES", "", shape, "names such as amber-otter, with commas between them")
    return tuple(value.split(",")) if value else ()


def _hosts(given: Mapping[str, str], base_url: str) -> tuple[str, ...]:
    own = urlsplit(base_url).hostname or ""
    value = given.get("ALLOWED_HOSTS", "")
    names = [name.strip() for name in value.split(",") if name.strip()]
    for name in names:
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]", name):
            raise SettingError(f"ALLOWED_HOSTS must be host names with commas between them, not {name!r}.")
    return tuple(dict.fromkeys([*names, f"[{own}]" if ":" in own else own, *LOOPBACK_HOSTS]))
