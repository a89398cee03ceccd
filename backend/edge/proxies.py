"""Who really sent a request that came through proxies, and over which scheme.

What a client says of itself is worth nothing, so a forwarding header is read only when the socket
belongs to a listed proxy, and then from its right end: the address that the last listed proxy saw
is the right-most one that is not a listed proxy itself. Only the one header that the proxies are
known to set is read; the other could come from the client.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal, TypeAlias

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

ProxyHeader = Literal["x-forwarded-for", "forwarded"]
Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_SCHEMES = frozenset({"http", "https"})


@dataclass(frozen=True, slots=True)
class Hop:
    """What one proxy says of whom it serves.

    Attributes:
        address: Of the sender; None when it is hidden or malformed.
        scheme: ``http``, ``https``, or empty when nothing is said.
    """

    address: Address | None
    scheme: str = ""


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The proxies in front of the service.

    Attributes:
        networks: Their addresses.
        header: The header they set.
    """

    networks: tuple[Network, ...]
    header: ProxyHeader = "x-forwarded-for"

    def trusts(self, address: str) -> bool:
        """Whether a socket belongs to a listed proxy."""
        parsed = read_address(address)
        return parsed is not None and self._is_listed(parsed)

    def sender(self, peer: str, headers: Headers) -> tuple[str, str]:
        """Return address and scheme of the sender; the scheme is empty when nothing is said.

        Args:
            peer: Address of the socket.
            headers: Of the request.
        """
        if not self.trusts(peer):
            return peer, ""
        address, scheme = peer, ""
        for hop in reversed(self._hops(headers)):
            if hop.address is None:
                break
            address, scheme = str(hop.address), hop.scheme or scheme
            if not self._is_listed(hop.address):
                break
        return address, scheme

    def _hops(self, headers: Headers) -> Sequence[Hop]:
        lines = ",".join(headers.getlist(self.header))
        if self.header == "forwarded":
            return [_read_forwarded(part) for part in lines.split(",") if part.strip()]
        scheme = _scheme(headers.get("x-forwarded-proto", "").rpartition(",")[2])
        return [Hop(read_address(part), scheme) for part in lines.split(",") if part.strip()]

    def _is_listed(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


class ProxyMiddleware:
    """Puts the real sender and scheme in the place of the proxy's.

    Args:
        app: What is served.
        proxies: Those in front of it.
    """

    def __init__(self, app: ASGIApp, proxies: TrustedProxies) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        client = scope.get("client")
        if scope["type"] == "http" and client:
            address, scheme = self._proxies.sender(str(client[0]), Headers(scope=scope))
            if address != client[0]:
                # The port of the sender is not known, and nobody reads it.
                scope["client"] = (address, 0)
            if scheme:
                scope["scheme"] = scheme
        await self._app(scope, receive, send)


def read_networks(listed: Sequence[str]) -> tuple[Network, ...]:
    """Return networks from addresses and CIDR blocks.

    Raises:
        ValueError: One is neither, or has bits beyond its prefix.
    """
    return tuple(ip_network(one) for one in listed)


def read_address(text: str) -> Address | None:
    """Return an address written with or without port, brackets and quotes; None for anything else.

    IPv4 inside IPv6 is the IPv4 address.
    """
    plain = text.strip().strip('"')
    if plain.startswith("["):
        plain = plain[1:].partition("]")[0]
    elif plain.count(":") == 1:
        plain = plain.partition(":")[0]
    try:
        parsed = ip_address(plain)
    except ValueError:
        return None
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed


def _read_forwarded(element: str) -> Hop:
    """Read one element of ``Forwarded`` (RFC 7239)."""
    pairs = dict[str, str]()
    for pair in element.split(";"):
        name, _, value = pair.partition("=")
        pairs[name.strip().lower()] = value
    return Hop(read_address(pairs.get("for", "")), _scheme(pairs.get("proto", "")))


def _scheme(text: str) -> str:
    plain = text.strip().strip('"').lower()
    return plain if plain in _SCHEMES else ""
