"""A web process checks whether workers are alive: if none is, no one else can report it."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Executor
from contextlib import suppress
from datetime import datetime
from typing import Final

from django.db import Error, connection
from django.utils import timezone

from incidents.claiming.patient_threads import NoThread
from incidents.claiming.shared_clock import clock
from workflows.status import workers

log = logging.getLogger(__name__)

LOOK_S: Final = 15.0
LOOKS: Final = 4  # consecutive checks that found none, so that a start or a new release raises no alarm


async def watch(threads: Executor) -> None:
    """Check for as long as the process serves, and notify the leads once; if Slack is away, as soon as it is back."""
    loop, vain, told = asyncio.get_running_loop(), 0, False
    with suppress(NoThread):  # it is measured again soon
        await loop.run_in_executor(threads, _measure)
    while True:
        await asyncio.sleep(LOOK_S)
        try:
            since = await loop.run_in_executor(threads, _gone_since)
        except NoThread:  # there may be one the next time
            continue
        vain, told = (vain + 1, told) if since else (0, False)
        if since and vain == LOOKS:
            log.error("no worker was seen since %s", since)
        if since and vain >= LOOKS and not told:
            told = await loop.run_in_executor(threads, _tell, since)


def _measure() -> None:
    """Measure the offset between this host's clock and the database's, in which workers record when they were seen."""
    with suppress(Error):  # it is measured again soon
        clock.measure()
    connection.close()


def _gone_since() -> datetime | None:
    try:
        clock.measure()
        return workers.now(at=timezone.now()).gone_since
    except Error:  # without the database it is unknown
        return None
    except Exception:  # whatever it is, the watch must go on: no one would restart it
        log.exception("could not look whether workers live")
        return None
    finally:
        connection.close()


def _tell(since: datetime) -> bool:
    """Notify the leads; return whether no one is left to be notified."""
    try:
        if told := workers.tell_leads(since):
            log.warning("told %s who lead that no worker was seen", told)
    except Error as error:
        log.warning("could not tell that no worker was seen: %s", type(error).__name__)
        return False
    except Exception:  # as above
        log.exception("could not tell that no worker was seen")
        return False
    finally:
        connection.close()
    return workers.is_told(since)
