"""`demo` and `run`: a stack that stays up until it is stopped."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from socket import socket

from config import env
from stack import story
from stack.errors import StackError
from stack.processes import ports
from stack.services import services
from stack.supervisor import running, surroundings
from stack.terminal import hear, paint, say

# Settings that the stack itself fills in before any process reads them.
SERVICES_TO_COME = {"DATABASE_URL": "postgresql://embedded", "REDIS_URL": "redis://embedded"}
WITHOUT_SLACK = "Slack is not connected (SLACK_BOT_TOKEN is not set): use the web and the terminal."
# The codenames of a demo's first incidents, which its stories and pictures therefore show.
CODENAMES = {"FIREKIND_CODENAMES": "amber-otter,quiet-harbor,plain-meadow"}
LOOK_S = 0.5
# A process that exits this often within the span, in seconds, is not restarted.
FALLS, SPAN_S = 5, 60.0


def demo() -> None:
    """Run everything with the sandbox in place of Slack and PagerDuty, play the story, and stay up."""
    given = surroundings.exported()
    story.asked()  # a misspelled story is reported before anything starts
    port, data_dir = env.port(given), env.data_dir(given)
    services.wait_for_leftovers(data_dir)
    with _doors(port, names=("web", "sandbox"), target="demo") as doors:
        settings = (
            surroundings.blank()
            | CODENAMES
            | surroundings.ONE_MACHINE
            | given
            | surroundings.with_sandbox(data_dir=data_dir, port=port)
        )
        env.read(SERVICES_TO_COME | env.present(settings))
        started = ("sandbox", *surroundings.processes(settings))
        say(paint("Starting PostgreSQL, Redis, web, workers and the sandbox ...", "grey"))
        with running.opened(settings, data_dir=data_dir, doors=doors, processes=started, hear=hear) as stack:
            stack.wait_ready()
            watched = f"Watch it as Ada at {surroundings.address(settings)}, and in its Slack at {stack.sandbox_url}."
            say(paint(watched, "grey"))
            story.play(stack, say=say)
            stack.fill()
            say()
            _say_address("Firekind", surroundings.address(settings), "ready")
            _say_address("Sandbox", stack.sandbox_url, "stands in for Slack")
            _say_address("Pager", f"{stack.sandbox_url}/pagerduty", "stands in for PagerDuty")
            _say_address("Tracker", f"{stack.sandbox_url}/tracker", "stands in for GitHub Issues")
            say(paint("  Ctrl-C stops everything; your data is kept for next time.", "grey"))
            _stay(stack)


def run() -> None:
    """Run the product as the settings say."""
    given = surroundings.ONE_MACHINE | surroundings.given()
    parsed = env.read(SERVICES_TO_COME | given)
    settings = surroundings.blank() | given
    settings |= {"PORT": str(parsed.port), "FIREKIND_DATA_DIR": str(parsed.data_dir)}
    services.wait_for_leftovers(parsed.data_dir)
    with _doors(parsed.port, names=("web",), target="run", host=parsed.host) as doors:
        if parsed.slack is None:
            say(paint(WITHOUT_SLACK, "yellow"))
        started = (*surroundings.processes(settings), *(("socket",) if parsed.slack and parsed.slack.app_token else ()))
        with running.opened(settings, data_dir=parsed.data_dir, doors=doors, processes=started, hear=hear) as stack:
            stack.wait_ready()
            _say_address("Firekind", parsed.base_url, "ready")
            _stay(stack)


@contextmanager
def _doors(port: int, *, names: Sequence[str], target: str, host: str = ports.LOOPBACK) -> Iterator[dict[str, socket]]:
    """Listen on a port for each name in turn, starting at `port`."""
    advice = f"choose another, for example `make {target} PORT={port + 1000 if port < 64000 else 8000}`"
    with ExitStack() as exits:
        yield {
            name: exits.enter_context(ports.listen(port + n, host=host, what=f"the {name}", advice=advice))
            for n, name in enumerate(names)
        }


def _say_address(name: str, url: str, what: str = "") -> None:
    say(f"  {name:<9} {paint(url, 'bold')}{f'  ({what})' if what else ''}")


def _stay(stack: running.Stack) -> None:
    """Run until a signal arrives, restarting processes that exit."""
    falls: dict[str, list[float]] = defaultdict(list)
    try:
        while True:
            time.sleep(LOOK_S)
            _restart_fallen(stack, falls)
    except SystemExit:  # a signal: stopping is what it is for, so this is a clean exit
        say(paint("Stopping ...", "grey"))


def _restart_fallen(stack: running.Stack, falls: dict[str, list[float]]) -> None:
    """Restart what exited, servers first, and record when. Raises StackError if one keeps exiting."""
    for process in (*stack.servers.values(), *stack.processes.values()):
        if process.exit_code is None:
            continue
        now, name = time.monotonic(), process.name
        falls[name] = [*(at for at in falls[name] if at > now - SPAN_S), now]
        if len(falls[name]) >= FALLS:
            raise StackError(f"{name} keeps exiting, most recently with code {process.exit_code}.")
        say(paint(f"{name} exited with code {process.exit_code}; restarting it.", "yellow"))
        process.kill9()
        process.start()
