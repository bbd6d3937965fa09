"""Send one HTTP request to a source: to the address that was checked, without redirects, limited in size and time.

It uses only ``http.client`` on a socket that we connect ourselves, so that no library resolves the name again, follows
a redirect, uses a proxy from the environment or decompresses the answer.
"""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import urlsplit

from incidents.claiming import in_hand
from integrations import one_request
from integrations.profilers import addresses
from integrations.profilers.sources import VARIABLE, Listed
from workflows.ports import VendorError

CONNECT_S = 5.0
CHUNK = 1 << 16
SHOWN = 300
PAGE = "text/html"  # no source answers with this
MIB = 1 << 20
METHOD = "profiler.capture"
FOUND = range(300, 400)
LATER = {408, 425, 429, *range(500, 600)}


@dataclass(slots=True)
class SourceAnswer:
    """A source's answer; ``body`` is a file that is deleted when closed, ``type`` its content type."""

    status: int
    body: BinaryIO
    type: str

    @property
    def words(self) -> str:
        """Return the beginning of the body as text, for people."""
        self.body.seek(0)
        said = self.body.read(SHOWN).decode("utf-8", "replace")
        self.body.seek(0)
        return " ".join("".join(one if one.isprintable() else " " for one in said).split())


def get(source: Listed, path: str, *, environ: Mapping[str, str], patience_s: float) -> SourceAnswer:
    """Request a path below the source's URL."""
    return request(source, "GET", path, b"", {}, environ=environ, patience_s=patience_s)


def post(
    source: Listed, path: str, body: bytes, *, type: str, environ: Mapping[str, str], patience_s: float
) -> SourceAnswer:
    """Send a body to a path below the source's URL."""
    headers = {"Content-Type": type}
    return request(source, "POST", path, body, headers, environ=environ, patience_s=patience_s)


def request(
    source: Listed,
    method: str,
    path: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    environ: Mapping[str, str],
    patience_s: float,
) -> SourceAnswer:
    """Send a request to a source and return a good answer. Raises ``VendorError`` with words for the operator.

    The whole exchange may take ``patience_s``, however slowly bytes arrive, and the body up to the source's
    ``most_mib``.
    """
    sent = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "firekind", **headers}
    sent |= {name: _filled(source, name, value, environ) for name, value in source.headers.items()}
    parts = urlsplit(source.url)
    with one_request.asking(writes=True):
        try:
            with ExitStack() as undo:
                with _connected(source, patience_s=patience_s) as connection:
                    in_hand.before_sending()
                    connection.request(method, f"{parts.path}{path}", body=body or None, headers=sent)
                    with closing(connection.getresponse()) as response:  # also for one that is refused half-way
                        answer = _answer(source, response)
                    undo.callback(answer.body.close)
                undo.pop_all()
        except addresses.AddressRefused as refused:
            raise VendorError(f"{source.name}: {refused}", code="refused_address", method=METHOD) from refused
        except ssl.SSLCertVerificationError as error:
            says = f"{source.name} has an invalid certificate: {error.verify_message}."
            raise VendorError(says, code="certificate", method=METHOD) from error
        except (OSError, http.client.HTTPException) as error:
            raise _unanswered(source, error, patience_s) from error
    _must_be_good(source, answer)
    return answer


@contextmanager
def _connected(source: Listed, *, patience_s: float) -> Iterator[http.client.HTTPConnection]:
    parts = urlsplit(source.url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    address = addresses.resolve(host, port, internal=source.internal)
    plain = socket.create_connection((address, port), timeout=CONNECT_S)
    # Enforce the deadline even if a slow peer keeps sending bytes: shut the socket down while it is being read. This
    # needs a handle of our own, because TLS takes over the socket's.
    late, handle = threading.Event(), plain.dup()
    cut = threading.Timer(patience_s, _cut, args=(handle, late))
    cut.daemon = True
    cut.start()
    try:
        sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host) if secure else plain
        sock.settimeout(patience_s)
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(host, port)
        connection.sock = sock
        connection.auto_open = 0
        try:
            yield connection
        finally:
            connection.close()
        if late.is_set():
            raise TimeoutError  # a cut connection looks like an answer that simply ended
    except (OSError, http.client.HTTPException) as error:
        if late.is_set():
            raise TimeoutError from error  # or like a peer that hung up although it was still sending
        raise
    finally:
        cut.cancel()
        plain.close()
        handle.close()


def _cut(sock: socket.socket, late: threading.Event) -> None:
    late.set()
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has already ended


def _answer(source: Listed, response: http.client.HTTPResponse) -> SourceAnswer:
    with ExitStack() as undo:
        body = undo.enter_context(tempfile.TemporaryFile())
        for chunk in _chunks(source, response):
            body.write(chunk)
        body.seek(0)
        undo.pop_all()  # the caller closes it
        return SourceAnswer(response.status, body, response.headers.get_content_type())


def _chunks(source: Listed, response: http.client.HTTPResponse) -> Iterator[bytes]:
    size, most = 0, source.most_mib * MIB
    while chunk := response.read(min(CHUNK, most + 1 - size)):  # reads just enough to know that it is too large
        size += len(chunk)
        if size > most:
            says = f"{source.name} returned more than {source.most_mib} MiB. Request less, or raise its most_mib."
            raise VendorError(says, code="too_large", method=METHOD)
        yield chunk
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)  # reading in chunks does not raise this


def _must_be_good(source: Listed, answer: SourceAnswer) -> None:
    is_page = answer.type == PAGE
    if answer.status == http.HTTPStatus.OK and not is_page:
        return
    with answer.body:
        if answer.status == http.HTTPStatus.OK:
            says = f"{source.name} answered with a web page: a proxy in between, or not its address. Check the list."
            raise VendorError(says, code="strange_answer", method=METHOD)
        raise _error(source, answer.status, "" if is_page else answer.words)


def _error(source: Listed, status: int, words: str) -> VendorError:
    """Return the error for an answer: what it means, and what to do about it."""
    said = f"{source.name} answered {status}{f': {words}' if words else ''}."
    if "already in use" in words:  # net/http/pprof answers 500 while another CPU profile is being taken
        says = f"{source.name} is busy: someone else is taking a CPU profile of it."
        return VendorError(says, code="busy", method=METHOD, retryable=True)
    if status in FOUND:
        next_step = " Redirects are not followed: put the final address in the list."
    elif status in {401, 403}:
        next_step = " Check its credentials in the list."
    else:
        next_step = "" if status in LATER else " Check its address and kinds in the list."
    return VendorError(f"{said}{next_step}", code=f"http_{status}", method=METHOD, retryable=status in LATER)


def _unanswered(source: Listed, error: Exception, patience_s: float) -> VendorError:
    where = urlsplit(source.url).netloc
    if isinstance(error, socket.gaierror):
        says = f"{source.name}: the host {urlsplit(source.url).hostname} could not be resolved."
    elif isinstance(error, TimeoutError | http.client.HTTPException):
        says = f"{source.name} did not respond in full at {where} within {patience_s:g} s."
    else:
        says = f"{source.name} cannot be reached at {where}: {getattr(error, 'strerror', '') or error}."
    return VendorError(says, code="unreachable", method=METHOD, retryable=True)


def _filled(source: Listed, header: str, value: str, environ: Mapping[str, str]) -> str:
    """Fill in the environment variable; ``basic`` and ``bearer`` become the header's value."""
    way, _, rest = value.rpartition(" ")
    match = VARIABLE.fullmatch(rest)
    assert match is not None, "the list was checked"
    secret = environ.get(match[1], "")
    if not secret or any(one in secret for one in "\r\n"):
        says = f"The variable {match[1]}, which holds {header} for {source.name}, is not set where the worker runs."
        raise VendorError(says, code="no_credentials", method=METHOD)
    if way == "basic":
        return f"Basic {base64.b64encode(secret.encode()).decode()}"
    return f"Bearer {secret}" if way == "bearer" else secret
