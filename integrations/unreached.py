"""Errors for requests that never reached a vendor, for reasons operators can fix: an untrusted certificate, DNS, or a
machine that is short of files or ports."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import Final

from workflows.ports import VendorError

CERTIFICATE: Final = "certificate"
# What this machine lacks for a connection, by the error it then gives; nothing is sent before there is one.
SHORT_OF: Final = {errno.EMFILE: "open files", errno.ENFILE: "open files", errno.EADDRNOTAVAIL: "ports"}
FREE: Final = "Retrying automatically. Free some, or raise the process's limit."
MEND: Final = (
    "This does not pass by itself: check this host's clock, the certificates it trusts (SSL_CERT_FILE), and any proxy "
    "in between. Retrying automatically."
)


def error_of(error: BaseException, *, vendor: str, method: str) -> VendorError | None:
    """Return the error for a request that failed on a certificate, DNS or this machine; None for every other cause."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            says = f"{vendor}'s certificate is not trusted here{_why(cause)}. {MEND}"
            return VendorError(says, code=CERTIFICATE, method=method, retryable=True)
        if isinstance(cause, OSError) and (lacks := SHORT_OF.get(cause.errno or 0)):
            says = f"This machine has no {lacks} left, so {vendor} could not be asked. {FREE}"
            return VendorError(says, code="connection_failed", method=method, retryable=True)
        if isinstance(cause, socket.gaierror):
            says = f"{vendor}'s name could not be resolved by DNS. Retrying automatically."
            return VendorError(says, code="connection_failed", method=method, retryable=True)
    return None


def _why(error: ssl.SSLCertVerificationError) -> str:
    """Return OpenSSL's own reason, if it gives one."""
    said: str = getattr(error, "verify_message", "")
    return f" ({said.rstrip('.')})" if said else ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, the root cause last; urllib keeps the cause as ``reason``."""
    while error is not None:
        yield error
        reason = getattr(error, "reason", None)
        error = reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__
