"""The shipped nginx configuration, run on free ports with a certificate made for the test."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.e2e.installation import pick_port
from tests.services import require

NGINX = Path(__file__).resolve().parents[2] / "nginx"
NAME = "docs.example"
_UP_SECONDS = 15.0


@dataclass(frozen=True)
class Proxy:
    """A running nginx.

    Attributes:
        plain: Address without TLS.
        secure: Address with TLS; the certificate names ``NAME``.
        certificate: What a client has to trust.
    """

    plain: str
    secure: str
    certificate: Path

    def client(self, *, http2: bool = False) -> httpx.Client:
        """Return a client that believes the certificate and asks for the name in it."""
        return httpx.Client(
            base_url=self.secure,
            headers={"host": NAME},
            verify=ssl.create_default_context(cafile=self.certificate),
            http2=http2,
            trust_env=False,
            timeout=20,
        )


@contextmanager
def run_proxy(folder: Path, *, api: str, mcp: str) -> Generator[Proxy]:
    """Run nginx in front of two addresses; it is stopped at the end of the block."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    require(present=program is not None, what="nginx")
    plain, secure = pick_port(), pick_port()
    certificate = _make_certificate(folder)
    settings = folder / "nginx.conf"
    settings.write_text(_settings(folder, plain=plain, secure=secure, api=api, mcp=mcp))
    running = subprocess.Popen(
        [program or "", "-p", folder, "-c", settings, "-e", folder / "error.log"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_until_up(running, f"http://127.0.0.1:{plain}/", folder)
        yield Proxy(f"http://127.0.0.1:{plain}", f"https://127.0.0.1:{secure}", certificate)
    finally:
        running.terminate()
        running.wait(10)


def _make_certificate(folder: Path) -> Path:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", f"/CN={NAME}"),
            *("-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1"),
            *("-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"),
        ],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return folder / "fullchain.pem"


def _settings(folder: Path, *, plain: int, secure: int, api: str, mcp: str) -> str:
    """Return the shipped files with ports, name and certificate changed, and nothing else."""
    server = (NGINX / "vouch.conf").read_text()
    for old, new in (
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{secure} ssl http2;"),
        ("/etc/letsencrypt/live/vouch.example.org", str(folder)),
        ("vouch.example.org", NAME),
    ):
        assert old in server
        server = server.replace(old, new)
    server = re.sub(r"^ *listen \[::\].*\n", "", server, flags=re.MULTILINE)
    upstreams = (NGINX / "vouch-upstreams.conf").read_text()
    upstreams = upstreams.replace("127.0.0.1:8000", urlsplit(api).netloc)
    upstreams = upstreams.replace("127.0.0.1:8001", urlsplit(mcp).netloc)
    scratch = "\n".join(
        f"  {kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nevents {{}}\n"
        f"http {{\n  access_log off;\n{scratch}\n{upstreams}\n{server}\n}}\n"
    )


def _wait_until_up(running: subprocess.Popen[bytes], url: str, folder: Path) -> None:
    deadline = time.monotonic() + _UP_SECONDS
    while time.monotonic() < deadline and running.poll() is None:
        try:
            httpx.get(url, trust_env=False, timeout=2)
        except httpx.HTTPError:
            # Waiting for a process to come up: there is no event for it.
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"nginx did not come up:\n{(folder / 'error.log').read_text()}")
