"""Which addresses a source may be at: the wall against being sent where we should not go.

The list of sources is the operator's, so nobody else chooses an address. What is left is a name that resolves to
something else than the operator meant (ASVS 5.0, 1.3.6 and 13.2.4).
"""

from __future__ import annotations

import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address

Address = IPv4Address | IPv6Address

# Where clouds answer with credentials; beside the link-local ones, which are refused as a whole.
METADATA = frozenset(map(ipaddress.ip_address, ("100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")))
NAT64 = ipaddress.ip_network("64:ff9b::/96")


class AddressRefused(Exception):
    """An address is not one that may be asked; the message says why."""


def resolve(host: str, port: int, *, internal: bool) -> str:
    """Resolve a name once and return the address to connect to; raise ``Refused``, or ``OSError`` for no such name.

    One bad address among several refuses them all: a name that points both out and in is no honest one.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    for address in addresses:
        check(ipaddress.ip_address(address), internal=internal)
    return addresses[0]


def check(address: Address, *, internal: bool) -> None:
    """Raise ``Refused`` for an address that is never asked, or that is inside although the source is not."""
    inner = _unwrapped(address)
    if inner in METADATA or inner.is_link_local:
        raise AddressRefused(f"{address} is a machine metadata address and is never requested.")
    if inner.is_multicast or inner.is_unspecified or (inner.is_reserved and not inner.is_loopback):
        raise AddressRefused(f"{address} is not the address of a machine.")
    if not inner.is_global and not internal:
        raise AddressRefused(
            f"{address} is inside your network; if that is intended, set `internal: true` for this source."
        )


def _unwrapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for (mapped, 6to4, Teredo, NAT64), else the address itself."""
    if not isinstance(address, IPv6Address):
        return address
    teredo = address.teredo[1] if address.teredo else None
    nat64 = IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else None
    return address.ipv4_mapped or address.sixtofour or teredo or nat64 or address
