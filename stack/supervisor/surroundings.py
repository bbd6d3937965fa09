"""The settings each kind of stack gives its processes."""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from config import env
from config.parsing import cleaning
from config.parsing.values import flag
from stack.processes.ports import LOOPBACK

# What a stack that is all there is of Firekind is set to, where nobody says otherwise: one process less.
ONE_MACHINE: Final = {"EVIDENCE_IN_WORKER": "on"}
# Those of the sandbox's people who have an account in its issue tracker.
IN_THE_TRACKER: Final = ("ada", "mateo", "yuki", "priya", "tomasz", "farah", "ingrid", "wei", "amelie")


def given() -> dict[str, str]:
    """Read what the person set, by environment or `.env`; names set to nothing are left out."""
    return env.present(env.given())


def exported() -> dict[str, str]:
    """Read what the shell sets. A demonstration keeps away from `.env`, which may name a database in earnest."""
    return env.present(cleaning.cleaned(os.environ, env.NAMES))


def processes(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Name the processes of the product that settings ask for; a name set to nothing counts as not set."""
    return ("web", "worker") if flag(env.present(settings), "EVIDENCE_IN_WORKER") else ("web", "worker", "evidence")


def blank() -> dict[str, str]:
    """Return an environment with none of our settings, ignoring the shell and `.env`."""
    return {**os.environ, **dict.fromkeys(env.NAMES, ""), "DJANGO_SETTINGS_MODULE": "config.settings"}


def with_sandbox(*, data_dir: Path, port: int) -> dict[str, str]:
    """Give the settings that put the sandbox where vendors would be, and leave no real one in reach."""
    sandbox = f"http://{LOOPBACK}:{port + 1}"
    return {
        "PORT": str(port),
        "FIREKIND_DATA_DIR": str(data_dir),
        "SECRET_KEY": kept_secret(data_dir, "secret-key"),
        "FIREKIND_SANDBOX_URL": sandbox,
        "FIREKIND_PROFILED_URL": f"{sandbox}/checkout-api",
        "PROFILE_SOURCES_FILE": str(env.ROOT / "fixtures" / "sandbox_sources.yaml"),
        "SLACK_API_URL": f"{sandbox}/api/",
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_SIGNING_SECRET": kept_secret(data_dir, "signing-secret"),
        "SLACK_APP_TOKEN": "",
        "SLACK_ADMIN_TOKEN": "",
        "SLACK_TEAM_ID": "",
        "SLACK_BOT_USER_ID": "",
        "PAGERDUTY_API_URL": f"{sandbox}/pagerduty/api",
        "PAGERDUTY_API_KEY": "sandbox",
        "PAGERDUTY_FROM": "firekind@example.com",
        "PAGERDUTY_SERVICE": "Firekind",
        "PAGERDUTY_WEBHOOK_SECRETS": kept_secret(data_dir, "webhook-secret"),
        "PAGERDUTY_EVENTS_URL": f"{sandbox}/pagerduty/events",
        "PAGERDUTY_ROUTING_KEY": "sandbox0routing0key0000000000000",
        "TRACKER": "github",
        "TRACKER_URL": f"{sandbox}/tracker/api",
        "TRACKER_TOKEN": "sandbox",
        "TRACKER_PROJECT": "sandbox/follow-ups",
        "TRACKER_PRIVATE_PROJECT": "sandbox/private",
        "TRACKER_WEBHOOK_SECRETS": kept_secret(data_dir, "tracker-secret"),
        "TRACKER_PEOPLE": ",".join(f"{one}@example.com={one}" for one in IN_THE_TRACKER),
    }


def address(settings: Mapping[str, str]) -> str:
    """Give the address people open."""
    return (settings.get("FIREKIND_BASE_URL") or f"http://{LOOPBACK}:{settings['PORT']}").rstrip("/")


@contextmanager
def told(settings: Mapping[str, str], *, data_dir: Path) -> Iterator[None]:
    """Keep the settings of the running stack in its data folder, where `manage.py` finds them."""
    path = data_dir / env.RUNNING
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    lines = [f"{name}={settings[name]}\n" for name in env.NAMES if settings.get(name)]
    path.write_text("".join(lines), encoding="utf-8")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def kept_secret(data_dir: Path, name: str) -> str:
    """Give a secret of this data folder, made on first use and readable by its owner alone."""
    path = data_dir / name
    if not path.exists():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(64), encoding="ascii")
    return path.read_text(encoding="ascii")
