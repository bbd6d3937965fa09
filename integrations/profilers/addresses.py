"""Which addresses a source may be at: the wall against being sent where we should not go.

The list of sources is the operator's, so nobody else chooses an address. What is left is a name that resolves to
something else than the operator meant (ASVS 5.0, 1.3.6 and 13.2.4).
"""

from __future__ import annotations

import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address

Address = IPv4Address | IPv6Address

# Where clouds answer with credentials or settings of the machine; beside the link-local ones, which are refused as a
# whole (AWS, Google Cloud, Azure, Oracle, Tencent, DigitalOcean, OpenStack and others at 169.254.169.254).
METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "168.63.129.16",  # Azure's WireServer: certificates and extension settings; it counts as a public address
            "100.100.100.200",  # Alibaba Cloud
            "192.0.0.192",  # Oracle Cloud, older machines
            "fd00:ec2::254",  # AWS: the machine's credentials
            "fd00:ec2::23",  # AWS: those of a pod
            "fd20:ce::254",  # Google Cloud
            "fd00:c1::a9fe:a9fe",  # Oracle Cloud
            "fd00:42::42",  # Scaleway
            "fd00:a9fe:a9fe::1",  # Linode
        ),
    )
)
# Prefixes under which an IPv6 address stands for an IPv4 one in its last 32 bits: NAT64, of a network of its own or
# not, and the compatible addresses of old.
EMBEDDING = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
# ISATAP: fe80::5efe:a.b.c.d under any prefix, so told by the half that names the interface.
ISATAP = frozenset({0x00005EFE, 0x02005EFE})


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
    """Raise ``AddressRefused`` for an address that is never asked, or that is inside although the source is not."""
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
    """Return the IPv4 address that an IPv6 one stands for (mapped, 6to4, Teredo, NAT64, ...), else the address itself.

    The two that are about this very machine, `::` and `::1`, stand for nothing else.
    """
    if not isinstance(address, IPv6Address) or address.is_loopback or address.is_unspecified:
        return address
    known = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if known:
        return known
    embeds = any(address in network for network in EMBEDDING) or (int(address) >> 32) & 0xFFFFFFFF in ISATAP
    return IPv4Address(int(address) & 0xFFFFFFFF) if embeds else address
