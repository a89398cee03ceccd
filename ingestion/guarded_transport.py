"""An HTTP transport that connects to checked addresses only.

The name is resolved once, its addresses are checked, and the connection goes to the very address
that was checked: a name server that answers differently the second time gains nothing. It sits
under the client, so each redirect passes through it as well.
"""

from __future__ import annotations

import ipaddress

import httpx

from ingestion.addresses import Resolve, check_url, public_address, resolve
from ingestion.errors import SourceError


class GuardedTransport(httpx.BaseTransport):
    """Checks and pins the address of every request.

    Args:
        allowed_hosts: Hosts that may be asked, with those under them; empty allows all public ones.
        private_hosts: Hosts that may be private, for a documentation site inside one's own network.
        inner: Carries the request out.
        resolver: Host and port to addresses.
    """

    def __init__(
        self,
        *,
        allowed_hosts: tuple[str, ...] = (),
        private_hosts: tuple[str, ...] = (),
        inner: httpx.BaseTransport | None = None,
        resolver: Resolve = resolve,
    ) -> None:
        self._allowed = tuple(host.lower() for host in allowed_hosts)
        self._private = frozenset(host.lower() for host in private_hosts)
        self._inner = inner or httpx.HTTPTransport(trust_env=False)
        self._resolver = resolver

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the checked address of its host.

        Raises:
            SourceError: The address may not be read.
        """
        host, port = check_url(str(request.url))
        if not self._is_allowed(host):
            raise SourceError(f"{host}: not among the hosts that may be read")
        if host in self._private:
            return self._inner.handle_request(request)
        address = public_address(host, port, self._resolver)
        literal = f"[{address}]" if ipaddress.ip_address(address).version == 6 else address  # noqa: PLR2004
        pinned = httpx.Request(
            request.method,
            request.url.copy_with(host=literal),
            headers=request.headers,  # the Host header keeps the name
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return self._inner.handle_request(pinned)

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()

    def _is_allowed(self, host: str) -> bool:
        return not self._allowed or any(
            host == allowed or host.endswith(f".{allowed}") for allowed in self._allowed
        )
