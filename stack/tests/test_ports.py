"""Ports: ones in use are reported, and several processes on one port all get work."""

from __future__ import annotations

import socket
import sys

import pytest

from stack.errors import StackError
from stack.processes import ports


def listening() -> socket.socket:
    return ports.listen(0, what="the web", advice="wait")


def test_a_taken_port_is_said_even_when_processes_share_it() -> None:
    with listening() as first, ports.beside(first), pytest.raises(StackError, match="for the web is in use"):
        ports.listen(ports.number(first), what="the web", advice="wait")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shares connections out")
def test_connections_are_shared_out() -> None:
    with listening() as first, ports.beside(first) as second:
        second.setblocking(False)
        clients = [socket.create_connection((ports.LOOPBACK, ports.number(first))) for _ in range(64)]
        taken = 0
        try:
            while True:
                second.accept()[0].close()
                taken += 1
        except BlockingIOError:
            assert 10 < taken < 54
        finally:
            for client in clients:
                client.close()


def test_answers_leave_at_once() -> None:
    with (
        listening() as door,
        socket.create_connection((ports.LOOPBACK, ports.number(door))),
        door.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
