"""HTTP requests to providers, with a limit on how long a whole answer may take, however slowly its bytes arrive."""

from __future__ import annotations

from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from incidents.outages import spare_connections
from integrations import bounded

PATIENCE_S: Final = 5.0  # for the connection, and for each byte
REDIRECTS: Final = 3


class _Plain(HTTPConnection):
    def connect(self) -> None:
        self._ending = bounded.Ending(bounded.TIMES * PATIENCE_S)
        super().connect()
        self.sock = bounded.keeping(self.sock, self._ending, PATIENCE_S)

    def _tunnel(self) -> None:
        """Ask the proxy to open the tunnel."""
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
    """Sends requests over connections with a deadline, one request per connection."""

    def init_poolmanager(self, *args: Any, **more: Any) -> None:
        """Create the pools."""
        super().init_poolmanager(*args, **more)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, *args: Any, **more: Any) -> Any:
        """Create the pools that go through a proxy."""
        manager = super().proxy_manager_for(*args, **more)
        manager.pool_classes_by_scheme = POOLS
        return manager


class TimedSession(requests.Session):
    """A session whose requests have a deadline."""

    def __init__(self) -> None:
        super().__init__()
        self.max_redirects = REDIRECTS
        self.headers["Connection"] = "close"  # a connection's deadline covers one request
        for scheme in POOLS:
            self.mount(f"{scheme}://", Timed())

    def request(self, *args: Any, **more: Any) -> requests.Response:
        """Send a request with our time-out, holding no database connection meanwhile."""
        spare_connections.give_back()
        return super().request(*args, **{"timeout": PATIENCE_S, **more})

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return where an answer redirects to. Raises `TooManyRedirects` if the request carried a secret."""
        target = super().get_redirect_target(resp)
        if target and (resp.request.body or "Authorization" in resp.request.headers):
            raise requests.TooManyRedirects("The provider redirects what bears a secret.", response=resp)
        return target
