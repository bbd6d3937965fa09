"""Whether Firekind can send email, and through which server: for the few messages that nothing else can carry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from config.parsing.values import LOOPBACK_HOSTS, SettingError, require, shaped, url

NAMES = ("EMAIL_URL", "EMAIL_FROM")
TIMEOUT_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings:
    """A mail server, and the address that email comes from."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    implicit_tls: bool
    sender: str

    @property
    def starts_tls(self) -> bool:
        """Return whether the connection is upgraded to TLS after it is made."""
        return not self.implicit_tls and self.host not in LOOPBACK_HOSTS


def read(given: Mapping[str, str]) -> MailSettings | None:
    """Parse both settings, or return None if neither is set. Raises SettingError."""
    if not any(name in given for name in NAMES):
        return None
    for name in NAMES:
        require(given, name, because="email is set up in part")
    parts = urlsplit(url(given, "EMAIL_URL", schemes=("smtp", "smtps")))
    if not parts.hostname:
        raise SettingError("EMAIL_URL must name a server, like smtp://user:password@mail.example:587.")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isascii():
        raise SettingError("EMAIL_URL has a user or a password with letters that no mail server takes: use ASCII.")
    implicit = parts.scheme == "smtps"
    return MailSettings(
        host=parts.hostname,
        port=parts.port or (465 if implicit else 587),
        user=user,
        password=password,
        implicit_tls=implicit,
        sender=shaped(given, "EMAIL_FROM", "", r"[^@\s<>]+@[^@\s<>]+", "an email address"),
    )


def django(given: MailSettings | None) -> dict[str, Any]:
    """Return Django's settings for it; without a server, email is discarded and no connection is tried."""
    if given is None:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": given.host,
        "EMAIL_PORT": given.port,
        "EMAIL_HOST_USER": given.user,
        "EMAIL_HOST_PASSWORD": given.password,
        "EMAIL_USE_SSL": given.implicit_tls,
        "EMAIL_USE_TLS": given.starts_tls,
        "EMAIL_TIMEOUT": TIMEOUT_S,
        "DEFAULT_FROM_EMAIL": given.sender,
    }
