"""The configuration in docs/proxy.md, as files for a real proxy on this machine."""

from __future__ import annotations

import re
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from config.env import ROOT
from stack.processes import ports

TEXT: Final = (ROOT / "docs" / "proxy.md").read_text()
NAME: Final = "firekind.example"


def block(kind: str) -> str:
    """Return the document's configuration for one kind of proxy."""
    found = re.search(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for a test."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(tz=UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "firekind.pem", folder / "firekind.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    shape = serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, shape, plain))
    return paths


def nginx(folder: Path, port: int, behind: int, *, more: str = "") -> list[str]:
    """Write the document's configuration for nginx, with ``more`` in its location; return how to run it."""
    lines = block("nginx").replace("proxy_request_buffering on;", f"proxy_request_buffering on;\n{more}")
    lines = lines.replace("listen 443", f"listen 127.0.0.1:{port}").replace(":8000", f":{behind}")
    pem, key = certificate(folder)
    lines = lines.replace("/etc/ssl/firekind.pem", str(pem)).replace("/etc/ssl/firekind.key", str(key))
    kept = "\n".join(f"{one}_temp_path {folder}/{one};" for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    own = f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/log; events {{}}"
    (folder / "nginx.conf").write_text(f"{own} http {{ access_log off;\n{kept}\n{lines}}}")
    return ["nginx", "-e", str(folder / "log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]


def listens(port: int) -> bool:
    """Return whether something on this machine accepts connections there."""
    try:
        socket.create_connection((ports.LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True
