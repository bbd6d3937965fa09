"""Ask the broker whether it is there."""

from typing import Any

from kombu.exceptions import OperationalError

from config.celery import app


def error() -> BaseException | None:
    """Return why the broker does not take a connection or answers nothing on it; None where it does."""
    broker: Any = app.connection_for_write()
    ended: tuple[type[BaseException], ...] = (
        OperationalError,
        *broker.connection_errors,
        *broker.channel_errors,
    )
    try:
        with broker:
            broker.default_channel  # noqa: B018 (connects, and asks for an answer)
    except ended as error:
        return error
    return None
