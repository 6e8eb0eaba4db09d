"""The classifier's two ways out, against a name server and a TLS server on the loopback."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dns.asyncresolver
import dns.message
import dns.rrset
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from memoria_gateway.classifier import fetch, lookup

HOST = "vouch.example.org"
ZONE = {
    ("_keymail.example.org.", "TXT"): ['"host=vouch." "example.org"', '"v=spf1 -all"'],
    (f"{HOST}.", "A"): ["93.184.216.34", "10.0.0.1"],
    (f"{HOST}.", "AAAA"): ["2606:4700::1111"],
}


class NameServer(asyncio.DatagramProtocol):
    """Answers out of ZONE and keeps the questions."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def connection_made(self, transport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr) -> None:
        query = dns.message.from_wire(data)
        question = query.question[0]
        key = (question.name.to_text(), dns.rdatatype.to_text(question.rdtype))
        self.asked.append(key)
        reply = dns.message.make_response(query)
        if key in ZONE:
            reply.answer.append(dns.rrset.from_text(question.name, 60, "IN", key[1], *ZONE[key]))
        self.transport.sendto(reply.to_wire(), addr)


@pytest.fixture
async def names(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[NameServer]:
    """The name server that the look-ups use."""
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        NameServer, local_addr=("127.0.0.1", 0)
    )

    def resolver() -> dns.asyncresolver.Resolver:
        made = dns.asyncresolver.Resolver(configure=False)
        made.nameservers, made.port = ["127.0.0.1"], transport.get_extra_info("sockname")[1]
        made.search = [dns.name.from_text("search.test")]
        return made

    monkeypatch.setattr(lookup, "Resolver", resolver)
    yield server
    transport.close()


async def test_text_records_come_whole_and_are_asked_for_once(names: NameServer) -> None:
    """Their strings in one piece; a name without any has none, and no search domain is tried behind it."""
    assert sorted(await lookup.text_records("_keymail.example.org")) == [b"host=vouch.example.org", b"v=spf1 -all"]
    assert names.asked == [("_keymail.example.org.", "TXT")]
    assert await lookup.text_records("_keymail.example.net") == []
    assert names.asked[1:] == [("_keymail.example.net.", "TXT")]
    assert await lookup.text_records(".".join(["a" * 63] * 5)) == []  # longer than a name may be


async def test_a_host_has_the_addresses_of_both_families(names: NameServer) -> None:
    """All of them, since one that is not public refuses the host; the hosts file and search domains have no say."""
    assert sorted(await lookup.addresses(HOST)) == ["10.0.0.1", "2606:4700::1111", "93.184.216.34"]
    assert sorted(names.asked) == [(f"{HOST}.", "A"), (f"{HOST}.", "AAAA")]
    assert await lookup.addresses("localhost.localdomain") == []


async def test_nobody_to_ask_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a name server."""
    monkeypatch.setattr(lookup, "Resolver", lambda: dns.asyncresolver.Resolver(configure=False))
    assert await lookup.text_records("_keymail.example.org") == []
    assert await lookup.addresses(HOST) == []


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


@pytest.mark.parametrize(
    ("named", "trusted", "status"), [(HOST, True, 200), (HOST, False, None), ("x.org", True, None)]
)
async def test_the_certificate_must_be_for_the_name(tmp_path: Path, named: str, trusted: bool, status: int) -> None:
    """Dialled by the address, verified by the name, which is sent as SNI; an environment's proxy is not asked.

    Broken to see red: `check_hostname` off.
    """
    chain, key = certificate(tmp_path, named)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(chain, key)
    seen: list[str | None] = []
    served.sni_callback = lambda _socket, name, _context: seen.append(name)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=served)
    port = server.sockets[0].getsockname()[1]
    trust = ssl.create_default_context(cafile=chain if trusted else None)
    try:
        if status is None:
            with pytest.raises(ssl.SSLCertVerificationError):
                await fetch.dial("127.0.0.1", HOST, port, trust)
        else:
            assert await fetch.status_of(*await fetch.dial("127.0.0.1", HOST, port, trust), HOST) == status
    finally:
        server.close()
    assert seen == [HOST]


def test_the_default_trust_checks_names() -> None:
    """What is used where no test hands in another; and the port is that of https."""
    assert fetch._trust().check_hostname
    assert fetch._trust().verify_mode is ssl.CERT_REQUIRED
    assert fetch.PORT == 443
