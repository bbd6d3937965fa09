"""The ports of a stack.

The stack itself binds them and lends them to its processes: a port in use is detected before anything is started,
several web processes share one, and clients wait instead of failing while one of them restarts.
"""

import errno
import socket
import sys

from stack.errors import StackError

LOOPBACK = "127.0.0.1"
BACKLOG = 512


def listen(port: int, *, host: str = LOOPBACK, what: str, advice: str) -> socket.socket:
    """Listen on a port. Raises StackError with one clear sentence if that is impossible."""
    try:
        return _listen(port, host=host)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            why = f"Cannot use port {port} on {host} for {what}: {error.strerror}"
            raise StackError(f"{why}. Correct HOST, an address of this machine, or PORT.") from None
        raise StackError(f"Port {port} for {what} is in use: stop the process using it, or {advice}.") from None


def listen_pair() -> tuple[socket.socket, socket.socket]:
    """Listen on any two consecutive free ports."""
    for _ in range(100):
        first = _listen(0, host=LOOPBACK)
        try:
            return first, _listen(number(first) + 1, host=LOOPBACK)
        except (OSError, OverflowError):
            first.close()
    raise StackError("Could not find two free ports on this machine.")


def beside(listening: socket.socket) -> socket.socket:
    """Listen once more on the same port, for one more process.

    Linux then distributes connections. A socket that processes share goes to whichever wakes first, and asyncio accepts
    all waiting connections: one of two processes got all the work and the other none. Elsewhere the kernel does not
    distribute, and one shared socket is the lesser evil.
    """
    if sys.platform != "linux":
        return listening.dup()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return _listen(number(listening), host=listening.getsockname()[0], shared=True)


def number(listening: socket.socket) -> int:
    """Return the port's number."""
    return int(listening.getsockname()[1])


def _listen(port: int, *, host: str, shared: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    # Connections inherit this. asyncio sets it only if it knows that a socket is TCP, which it does not know of an
    # inherited one; without it every response in two writes waits 40 ms for the client's acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening
