"""Files to and from Slack's file server, outside the Web API. The token is sent to that server and nowhere else."""

from __future__ import annotations

import http.client
import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from audit import straight
from integrations import bounded, one_request, unreached
from integrations.slack.protocol import error_messages
from workflows.ports import VendorError

CHUNK: Final = 1 << 18
UPLOAD, DOWNLOAD = "files.getUploadURLExternal", "files.info"  # get the file server's rate limits
TOO_MANY, SERVER_ERROR = 429, 500
PAGE: Final = "text/html"  # what Slack sends to a client that is not signed in
SAVED: Final = "attachment"  # how any file is sent, even a web page that someone shared
TIMES: Final = 20  # a whole file may take this many times the time-out of one byte
WAIT_AT_MOST_S: Final = 300.0  # then it is retried, whatever Retry-After said
BROKEN: Final = (OSError, http.client.HTTPException, ValueError)  # ValueError: a redirect to no valid URL


class FileTransfer:
    """Uploads and downloads files at the URLs that Slack names, if they are Slack's."""

    def __init__(self, *, api_url: str, token: str, timeout_s: int, tls: ssl.SSLContext | None) -> None:
        self.api = urlsplit(api_url)
        self.token = token
        self.timeout_s = timeout_s
        # A plain http:// URL is a stand-in on this machine, which a proxy cannot reach.
        plainly = (bounded.Plainly(times=TIMES), urllib.request.ProxyHandler({}))
        ways = (bounded.OverTls(tls, times=TIMES),) if tls else plainly
        # Slack redirects to its sign-in page if a file may not be read.
        self._opener = urllib.request.build_opener(straight.Straight, *ways)

    def send(self, url: str, content: bytes) -> None:
        """Upload a file's bytes to the URL that Slack issued for it."""
        request = self._request(url, content, UPLOAD)
        request.add_header("Content-Type", "application/octet-stream")
        with closing(self._open(request, UPLOAD)) as answer:
            try:
                answer.read(CHUNK)
            except BROKEN as error:
                raise _broken(UPLOAD, error) from error

    def fetch(self, url: str) -> Iterator[bytes]:
        """Yield a file in chunks. Raises ``VendorError`` when Slack shows its sign-in page instead."""
        request = self._request(url, None, DOWNLOAD)
        request.add_header("Authorization", f"Bearer {self.token}")
        with closing(self._open(request, DOWNLOAD)) as answer:
            if answer.headers.get_content_type() == PAGE and answer.headers.get_content_disposition() != SAVED:
                raise _sign_in()
            yield from self._pieces(answer)

    @staticmethod
    def _pieces(answer: http.client.HTTPResponse) -> Iterator[bytes]:
        while True:
            try:
                piece = answer.read(CHUNK)
            except BROKEN as error:
                raise _broken(DOWNLOAD) from error
            if not piece:
                break
            yield piece
        if answer.length:  # bytes still missing: a read that ends early raises nothing
            raise _broken(DOWNLOAD)

    def _request(self, url: str, content: bytes | None, method: str) -> urllib.request.Request:
        if not self.is_slacks(url):
            says = "Slack returned a file address that is not on Slack. Nothing was sent there."
            raise VendorError(says, code="foreign_address", method=method)
        return urllib.request.Request(url, data=content)  # noqa: S310  # the scheme is that of the API

    def is_slacks(self, url: str) -> bool:
        """Return whether a URL has the API's host, or one below its domain (slack.com: files.slack.com)."""
        try:
            parts = urlsplit(url)
            same_port = parts.port == self.api.port
        except ValueError:
            return False
        host, api = parts.hostname or "", self.api.hostname or ""
        return parts.scheme == self.api.scheme and same_port and (host == api or host.endswith(f".{api}"))

    def _open(self, request: urllib.request.Request, method: str) -> Any:
        with one_request.asking(writes=request.data is not None):
            try:
                return self._opener.open(request, timeout=self.timeout_s)
            except HTTPError as error:
                with error:
                    raise _refused(error, method) from error
            except BROKEN as error:
                raise _broken(method, error) from error


def _refused(error: HTTPError, method: str) -> VendorError:
    if error.code == TOO_MANY:
        says, wait_s = error_messages.words("ratelimited"), seconds(error.headers.get("Retry-After"))
        return VendorError(says, code="ratelimited", method=method, retryable=True, retry_after=wait_s)
    if error.code >= SERVER_ERROR:
        says = error_messages.words("service_unavailable")
        return VendorError(says, code="service_unavailable", method=method, retryable=True)
    if error.code in {301, 302, 303, 307, 308, 401, 403}:
        return _sign_in(method)
    says = "Slack's file server rejected the request. Add the file another way."
    return VendorError(says, code=f"http_{error.code}", method=method)


def seconds(header: str | None) -> float:
    """Return how long to wait for a rate limit: at least a second, at most ``WAIT_AT_MOST_S``."""
    try:
        return min(max(1.0, float(header or 1)), WAIT_AT_MOST_S)
    except ValueError:
        return 1.0


def _sign_in(method: str = DOWNLOAD) -> VendorError:
    says = "Slack asked for a sign-in instead of returning the file: the app may lack files:read."
    says = f"{says} {error_messages.REINSTALL}"
    return VendorError(says, code="sign_in", method=method)


def _broken(method: str, error: Exception | None = None) -> VendorError:
    if error and (unreached_because := unreached.error_of(error, vendor="Slack", method=method)):
        return unreached_because
    reason = error.reason if isinstance(error, URLError) else error
    sent = not isinstance(reason, bounded.NEVER_SENT)
    code = "connection_lost" if sent else "connection_failed"
    return VendorError(error_messages.words(code), code=code, method=method, retryable=True, unknown=sent)
