"""A web process looks whether workers live: when none does, nobody else can say so."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Executor
from contextlib import suppress
from datetime import datetime
from typing import Final

from django.db import Error, connection
from django.utils import timezone

from incidents.claiming.shared_clock import clock
from workflows.status import workers

log = logging.getLogger(__name__)

LOOK_S: Final = 15.0
LOOKS: Final = 4  # in a row that found none, so that a start or a new release is no alarm


async def watch(threads: Executor) -> None:
    """Look for as long as the process serves, and have those who lead told once: later, where Slack is away."""
    loop, vain, told = asyncio.get_running_loop(), 0, False
    await loop.run_in_executor(threads, _measure)
    while True:
        await asyncio.sleep(LOOK_S)
        since = await loop.run_in_executor(threads, _gone_since)
        vain, told = (vain + 1, told) if since else (0, False)
        if since and vain == LOOKS:
            log.error("no worker was seen since %s", since)
        if since and vain >= LOOKS and not told:
            told = await loop.run_in_executor(threads, _tell, since)


def _measure() -> None:
    """Find out how far this host's clock is off the database's, by which workers say when they were seen."""
    with suppress(Error):  # it is asked again soon
        clock.measure()
    connection.close()


def _gone_since() -> datetime | None:
    try:
        clock.measure()
        return workers.now(at=timezone.now()).gone_since
    except Error:  # without the database nobody knows
        return None
    except Exception:  # whatever it is, the watch goes on: nobody would begin it again
        log.exception("could not look whether workers live")
        return None
    finally:
        connection.close()


def _tell(since: datetime) -> bool:
    """Tell those who lead; return whether nobody is left to be told."""
    try:
        if told := workers.tell_leads(since):
            log.warning("told %s who lead that no worker was seen", told)
    except Error as error:
        log.warning("could not tell that no worker was seen: %s", type(error).__name__)
        return False
    except Exception:  # the same
        log.exception("could not tell that no worker was seen")
        return False
    finally:
        connection.close()
    return workers.is_told(since)
