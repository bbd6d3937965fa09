"""Someone visiting the web pages: a browser without pictures, with a keep-alive connection."""

from __future__ import annotations

import gzip
import http.client
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit

from stack.errors import StackError

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
WRONG = re.compile(r'<(?:div|ul)[^>]*class="(?:wrong|errorlist)[^"]*"[^>]*>(.*?)</(?:div|ul)>', re.DOTALL)
MARKUP = re.compile(r"<[^>]*>")
FACE = re.compile(r'<form[^>]*action="(/sign-in/as/\d+)".*?</form>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """The response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The page's text and markup, entities resolved, with single spaces."""
        return " ".join(unescape(self.source).split())

    @property
    def source(self) -> str:
        """The markup as sent, uncompressed."""
        packed = self.headers.get("content-encoding") == "gzip"
        return (gzip.decompress(self.body) if packed else self.body).decode()


class Visitor:
    """One person, or someone not signed in, at one site."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        assert parts.hostname, "an address of a site has a host"
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        self._cookies: SimpleCookie = SimpleCookie()

    @property
    def cookie(self) -> str:
        """The Cookie header by which the site knows this person."""
        return "; ".join(f"{name}={one.value}" for name, one in self._cookies.items())

    def sign_in_as(self, name: str) -> Visitor:
        """Choose who you are on the sandbox's sign-in page."""
        page = self.get("/sign-in/")
        for face in FACE.finditer(page.source):
            if name in unescape(face[0]):
                token = TOKEN.search(face[0])
                assert token is not None, "each face is a form with a token"
                self.post(face[1], {"csrfmiddlewaretoken": token[1], "next": "/"})
                return self
        raise StackError(f"The sign-in page does not offer {name}.")

    def get(self, path: str, **headers: str) -> VisitedPage:
        """Request a page; redirects are not followed."""
        return self._ask("GET", path, headers=headers)

    def fill(self, path: str, form: Mapping[str, str | Sequence[str]], *, to: str = "") -> str:
        """Fill in a form on a page, send it (elsewhere if `to` says so), and return where it leads.

        Raises StackError with the page's words if the form comes back.
        """
        token = TOKEN.search(self.get(path).source)
        assert token is not None, f"{path} has a form with a token"
        page = self.post(to or path, {"csrfmiddlewaretoken": token[1], **form})
        if page.status not in {302, 303}:
            said = " ".join(" ".join(MARKUP.sub(" ", one) for one in WRONG.findall(page.text)).split())
            raise StackError(f"The form of {to or path} was not taken ({page.status}): {said or 'no words'}")
        return page.headers["location"]

    def tries(self, path: str, form: Mapping[str, str | Sequence[str]]) -> VisitedPage:
        """Fill in a form on a page, send it, and return the page that comes back, with what it would do."""
        token = TOKEN.search(self.get(path).source)
        assert token is not None, f"{path} has a form with a token"
        return self.post(path, {"csrfmiddlewaretoken": token[1], **form})

    def post(self, path: str, form: Mapping[str, str | Sequence[str]]) -> VisitedPage:
        """Send a form."""
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Referer": self._site + path}
        return self._ask("POST", path, headers=kind, body=urlencode(form, doseq=True))

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    @property
    def _site(self) -> str:
        return f"http://{self._connection.host}:{self._connection.port}"

    def _ask(self, method: str, path: str, *, headers: Mapping[str, str], body: str | None = None) -> VisitedPage:
        sent = {"Accept": "text/html", "Cookie": self.cookie, **headers}
        try:
            response = self._response(method, path, body, sent)
            found = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise StackError(f"The web did not answer {path}: {error!r}") from None
        for line in response.headers.get_all("Set-Cookie", []):
            self._cookies.load(line)
        return VisitedPage(response.status, {name.lower(): value for name, value in response.getheaders()}, found)

    def _response(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        """Send a request, retrying once over a new connection if the site has closed the old one."""
        try:
            self._connection.request(method, path, body=body, headers=headers)
            return self._connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self._connection.close()
            self._connection.request(method, path, body=body, headers=headers)
            return self._connection.getresponse()
