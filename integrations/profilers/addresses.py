"""Check the IP addresses of sources, so that we cannot be made to send requests where we should not.

Only the operator lists sources, so no one else chooses an address. The remaining risk is a host name that resolves to
something other than the operator meant (ASVS 5.0, 1.3.6 and 13.2.4).
"""

from __future__ import annotations

import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address

Address = IPv4Address | IPv6Address

# Where clouds serve a machine's credentials or settings, apart from the link-local addresses, which are all refused
# (AWS, Google Cloud, Azure, Oracle, Tencent, DigitalOcean, OpenStack and others at 169.254.169.254).
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
# Prefixes of IPv6 addresses whose last 32 bits are an IPv4 address: NAT64, well-known and local, and the old
# IPv4-compatible addresses.
EMBEDDING = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
# ISATAP: fe80::5efe:a.b.c.d under any prefix, so it is recognised by the interface half.
ISATAP = frozenset({0x00005EFE, 0x02005EFE})


class AddressRefused(Exception):
    """An address must not be requested; the message says why."""


def resolve(host: str, port: int, *, internal: bool) -> str:
    """Resolve a host name once and return the address to connect to.

    A single bad address among several refuses them all, because a name that points both outside and inside is
    suspicious. Raises ``AddressRefused``, or ``OSError`` when the name does not exist.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    for address in addresses:
        check(ipaddress.ip_address(address), internal=internal)
    return addresses[0]


def check(address: Address, *, internal: bool) -> None:
    """Raise ``AddressRefused`` for an address that is never requested, or for an unexpected internal one."""
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
    """Return the IPv4 address embedded in an IPv6 one (mapped, 6to4, Teredo, NAT64, ...), else the address itself.

    The two local addresses `::` and `::1` embed none.
    """
    if not isinstance(address, IPv6Address) or address.is_loopback or address.is_unspecified:
        return address
    known = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if known:
        return known
    embeds = any(address in network for network in EMBEDDING) or (int(address) >> 32) & 0xFFFFFFFF in ISATAP
    return IPv4Address(int(address) & 0xFFFFFFFF) if embeds else address
