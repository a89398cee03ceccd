"""Which network addresses may be read from: the public internet, and nothing inside."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from ingestion.errors import SourceError

Resolve = Callable[[str, int], Sequence[str]]
"""Host and port to its addresses, as text."""

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_INSIDE = (
    ipaddress.ip_network("100.64.0.0/10"),  # carrier-grade NAT, where some clouds keep metadata
    ipaddress.ip_network("64:ff9b:1::/48"),
    ipaddress.ip_network("fec0::/10"),
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host by the system's resolver; blocks.

    Raises:
        SourceError: The host has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(f"{host}: no such host") from error
    return list(dict.fromkeys(str(info[4][0]) for info in found))


def public_address(host: str, port: int, resolver: Resolve) -> str:
    """Return the address to connect to, checked.

    Every address of the host must be public: one private address among several is how a name is
    made to pass the check and then lead inside.

    Raises:
        SourceError: The host has no address, or one that is not public.
    """
    addresses = resolver(host, port)
    for address in addresses:
        if not is_public(address):
            raise SourceError(f"{host}: leads to {address}, which is not on the public internet")
    if not addresses:
        raise SourceError(f"{host}: no such host")
    return addresses[0]


def is_public(address: str) -> bool:
    """Tell whether an IP address is on the public internet, whatever form hides it."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = _embedded(parsed)
        if inner is not None:
            return is_public(str(inner))
    is_inside = any(parsed in network for network in _INSIDE if network.version == parsed.version)
    return parsed.is_global and not parsed.is_multicast and not is_inside


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 one carries."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def check_url(url: str) -> tuple[str, int]:
    """Return the host and port of an address that may be asked for.

    Raises:
        SourceError: It is not http or https, has no host, or carries a user name.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise SourceError(f"{url}: not an address") from error
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise SourceError(f"{url}: only http and https addresses are read")
    if parts.username is not None or parts.password is not None:
        raise SourceError(f"{parts.hostname}: addresses with a user name are not read")
    return parts.hostname, port or _DEFAULT_PORTS[parts.scheme]
