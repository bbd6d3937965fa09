"""Ask the broker whether it is there and takes anything."""

from typing import Any, Final

from kombu.exceptions import OperationalError

from config.celery import app

PROBE: Final = "firekind/probe"
PROBE_S: Final = 60


def error() -> BaseException | None:
    """Return why the broker takes no connection, answers nothing on it or takes nothing; None where it does."""
    broker: Any = app.connection_for_write()
    ended: tuple[type[BaseException], ...] = (
        OperationalError,
        *broker.connection_errors,
        *broker.channel_errors,
    )
    try:
        with broker:
            channel = broker.default_channel  # connects, and asks for an answer
            if (redis := getattr(channel, "client", None)) is not None:  # one that is full or a replica does answer
                redis.set(PROBE, "", ex=PROBE_S)
    except ended as error:
        return error
    return None
