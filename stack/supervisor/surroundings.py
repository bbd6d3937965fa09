"""The settings that each kind of stack gives its processes."""

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

# The default for a stack that is all there is of Firekind: one process fewer.
ONE_MACHINE: Final = {"EVIDENCE_IN_WORKER": "on"}
# Those of the sandbox's people who have an account in its issue tracker.
IN_THE_TRACKER: Final = ("ada", "mateo", "yuki", "priya", "tomasz", "farah", "ingrid", "wei", "amelie")


def given() -> dict[str, str]:
    """Return the person's settings, from the environment or `.env`, without empty ones."""
    return env.present(env.given())


def exported() -> dict[str, str]:
    """Return the shell's settings. A demo ignores `.env`, which may name a production database."""
    return env.present(cleaning.cleaned(os.environ, env.NAMES))


def processes(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the product's processes that the settings ask for; an empty setting counts as not set."""
    return ("web", "worker") if flag(env.present(settings), "EVIDENCE_IN_WORKER") else ("web", "worker", "evidence")


def blank() -> dict[str, str]:
    """Return an environment with none of our settings, ignoring the shell and `.env`."""
    return {**os.environ, **dict.fromkeys(env.NAMES, ""), "DJANGO_SETTINGS_MODULE": "config.settings"}


def with_sandbox(*, data_dir: Path, port: int) -> dict[str, str]:
    """Return the settings that put the sandbox in the vendors' place, and leave no real vendor in reach."""
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
    """Return the URL people open."""
    return (settings.get("FIREKIND_BASE_URL") or f"http://{LOOPBACK}:{settings['PORT']}").rstrip("/")


@contextmanager
def told(settings: Mapping[str, str], *, data_dir: Path) -> Iterator[None]:
    """Keep the running stack's settings in its data folder, where `manage.py` finds them."""
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
    """Return a secret of this data folder, created on first use and readable only by its owner."""
    path = data_dir / name
    if not path.exists():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(64), encoding="ascii")
    return path.read_text(encoding="ascii")
