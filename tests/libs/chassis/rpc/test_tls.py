"""Calls over TCP are mutual TLS or nothing."""

import datetime as dt
import ipaddress
import socket
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from memoria.intake.v1 import intake_pb2 as pb
from memoria.intake.v1 import intake_pb2_grpc
from memoria_chassis.activity import Activity
from memoria_chassis.config import Settings, load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.allow import AllowList, Callers, token_hash
from memoria_chassis.rpc.client import Peer, dial
from memoria_chassis.rpc.server import bind, make_server


class Nudged(intake_pb2_grpc.IntakeServiceServicer):
    """Answers."""

    async def Nudge(self, request: pb.NudgeRequest, context: object) -> pb.NudgeResponse:
        """At once."""
        return pb.NudgeResponse()


class Authority:
    """A certificate authority of a test."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._sign(name, self.key.public_key(), True)

    def _sign(self, name: str, key: ec.EllipticCurvePublicKey, authority: bool) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.name)]))
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
            )
            .sign(self.key, hashes.SHA256())
        )

    def files(self, name: str) -> dict[str, str]:
        """MEMORIA_RPC_TLS_* of one service."""
        key = ec.generate_private_key(ec.SECP256R1())
        pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        written = {
            "CERT": self._sign(name, key.public_key(), False).public_bytes(pem),
            "KEY": key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain),
            "CA": self.certificate.public_bytes(pem),
        }
        variables = {}
        for kind, data in written.items():
            path = self.folder / f"{self.name}-{name}-{kind}.pem"
            path.write_bytes(data)
            variables[f"MEMORIA_RPC_TLS_{kind}_FILE"] = str(path)
        return variables


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def settings(port: int, **variables: str) -> Settings:
    """ingest at 127.0.0.1:port, called by gateway."""
    made = load_settings({"MEMORIA_RPC_CALLER_TOKEN": "gateway", **variables})
    update = {"addresses": {"ingest": f"127.0.0.1:{port}"}, "callers": {"gateway": token_hash("gateway")}}
    return made.model_copy(update={"rpc": made.rpc.model_copy(update=update)})


async def test_tcp_without_its_files_is_refused_at_both_ends(tmp_path: Path) -> None:
    """No cleartext: neither served nor dialled; one file of three is not enough, nor one that cannot be read."""
    files = Authority(tmp_path, "ca").files("ingest")
    some = dict(list(files.items())[:2])
    for variables in ({}, some, {**files, "MEMORIA_RPC_TLS_CA_FILE": str(tmp_path / "absent")}):
        made = settings(1, **variables)
        for attempt in (
            lambda m=made: dial(m, "ingest"),
            lambda m=made: bind(make_server(Callers(m.rpc.known_callers()), AllowList({}), Activity()), m, "ingest"),
        ):
            with pytest.raises(ServiceError) as caught:
                attempt()
            assert caught.value.kind is Kind.PRECONDITION


async def test_only_certificates_of_our_authority_talk(tmp_path: Path) -> None:
    """Both of our authority: answered. A stranger's certificate, none at all, and cleartext: not, whatever the token.

    Broken on 2026-11-30 to see red: require_client_auth=False.
    """
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    port = free_port()
    serving = settings(port, **ours.files("ingest"))
    callers = Callers(serving.rpc.known_callers())
    server = make_server(callers, AllowList({"/memoria.intake.v1.IntakeService/Nudge": ["gateway"]}), Activity())
    intake_pb2_grpc.add_IntakeServiceServicer_to_server(Nudged(), server)
    bind(server, serving, "ingest")
    await server.start()

    async def nudge(peer: Peer) -> None:
        try:
            await peer.call(intake_pb2_grpc.IntakeServiceStub(peer.channel).Nudge, pb.NudgeRequest(), timeout=5)
        finally:
            await peer.close()

    await nudge(dial(settings(port, **ours.files("gateway")), "ingest"))
    root = ours.certificate.public_bytes(serialization.Encoding.PEM)
    for peer in (
        dial(
            settings(
                port,
                **{**theirs.files("gateway"), "MEMORIA_RPC_TLS_CA_FILE": ours.files("x")["MEMORIA_RPC_TLS_CA_FILE"]},
            ),
            "ingest",
        ),
        dial(settings(port, **theirs.files("gateway")), "ingest"),
        Peer("ingest", f"127.0.0.1:{port}", "gateway", grpc.ssl_channel_credentials(root)),
        Peer("ingest", f"127.0.0.1:{port}", "gateway", None),
    ):
        with pytest.raises(ServiceError) as caught:
            await nudge(peer)
        assert caught.value.kind in {Kind.UNAVAILABLE, Kind.DEADLINE}
    await server.stop(0)
