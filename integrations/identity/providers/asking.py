"""How providers are asked: each answer comes whole and in time, however slowly its bytes do."""

from __future__ import annotations

from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from integrations import bounded

PATIENCE_S: Final = 5.0  # for a connection, and for each byte
REDIRECTS: Final = 3


class _Plain(HTTPConnection):
    def connect(self) -> None:
        self._ending = bounded.Ending(bounded.TIMES * PATIENCE_S)
        super().connect()
        self.sock = bounded.keeping(self.sock, self._ending, PATIENCE_S)

    def _tunnel(self) -> None:
        """Ask a proxy to lead on."""
        with bounded.asking_a_proxy(self, self._ending, PATIENCE_S):
            super()._tunnel()


class _Tls(_Plain, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _Tls


POOLS: Final = {"http": _PlainPool, "https": _TlsPool}


class Timed(HTTPAdapter):
    """Carries requests on connections that keep to a time, each for one of them."""

    def init_poolmanager(self, *args: Any, **more: Any) -> None:
        """Make the connections."""
        super().init_poolmanager(*args, **more)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, *args: Any, **more: Any) -> Any:
        """Make those that lead through a proxy."""
        manager = super().proxy_manager_for(*args, **more)
        manager.pool_classes_by_scheme = POOLS
        return manager


class TimedSession(requests.Session):
    """A session of such requests."""

    def __init__(self) -> None:
        super().__init__()
        self.max_redirects = REDIRECTS
        self.headers["Connection"] = "close"  # a connection's time is that of one request
        for scheme in POOLS:
            self.mount(f"{scheme}://", Timed())

    def request(self, *args: Any, **more: Any) -> requests.Response:
        """Ask, and wait no longer than that."""
        return super().request(*args, **{"timeout": PATIENCE_S, **more})

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return where an answer leads on to. Raises `TooManyRedirects` where a secret was sent along."""
        target = super().get_redirect_target(resp)
        if target and (resp.request.body or "Authorization" in resp.request.headers):
            raise requests.TooManyRedirects("The provider redirects what bears a secret.", response=resp)
        return target
