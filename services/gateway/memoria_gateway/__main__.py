"""Start the gateway."""

import time

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.process import Process, run_service
from memoria_chassis.sqlite import Database
from memoria_gateway.app import make_app
from memoria_gateway.classifier.classify import Classifier
from memoria_gateway.csrf import Csrf
from memoria_gateway.desk import Desk
from memoria_gateway.door import Door
from memoria_gateway.home.adapter import HomeAdapter
from memoria_gateway.home.assertion import Verifier
from memoria_gateway.home.pending import PendingSealer
from memoria_gateway.home.store import HomeStore
from memoria_gateway.limits import SignInLimits
from memoria_gateway.mail import Mailer, Outbox, SmtpMailer
from memoria_gateway.peers_client import ExtractClient, GateClient, IndexClient, IntakeClient
from memoria_gateway.push_client import PushClient
from memoria_gateway.render import Renderer
from memoria_gateway.store import MIGRATIONS, Store


def make_mailer(process: Process) -> Mailer:
    """SMTP where configured; otherwise the outbox, on a development zone only."""
    settings = process.settings
    if settings.mail.url is not None or settings.mail.url_file is not None:
        return SmtpMailer(settings.mail.secret("url"), settings.mail.sender)
    if settings.team.zone != "localhost":
        raise ServiceError(
            Kind.PRECONDITION, "mail.url is not set: only the zone localhost may leave sign-in links in an outbox"
        )
    return Outbox(settings.data.dir / "outbox", settings.mail.sender, time.time_ns)


def make_home(process: Process, database: Database, origin: str) -> HomeAdapter | None:
    """The sign-in by a home, where it is configured (AUT-22)."""
    home = process.settings.home_sign_in
    if home is None:
        return None
    if home.issuer == origin:
        raise ServiceError(Kind.INVALID, "home.issuer is this instance's own origin")
    key = process.key()
    store = HomeStore(database, key, ServiceKey(home.exchange_key([key.key])), process.clock)
    verify = Verifier(home.issuer, home.consumer_id, home.keys_base64).verify
    return HomeAdapter(home.issuer, home.consumer_id, verify, store, PendingSealer(key), origin.startswith("https:"))


async def build(process: Process) -> None:
    """Config, dependencies, server."""
    settings = process.settings
    origin = settings.gateway.origin.rstrip("/") or f"http://localhost:{settings.gateway.port}"
    https = origin.startswith("https:")
    if not https and settings.team.zone != "localhost":
        raise ServiceError(Kind.PRECONDITION, "gateway.origin must be https outside the zone localhost")
    database = Database.open(process.database_path(), MIGRATIONS)
    process.on_close(database.close)
    key = process.key()
    store = Store(database, key, process.clock)
    gate = GateClient(process.peer("authz"))
    csrf = Csrf(key.purpose("csrf"), origin)
    home = make_home(process, database, origin)
    ingest = process.peer("ingest")
    desk = Desk(
        store=store,
        door=Door(store, gate, csrf, https=https, home=home.store if home else None),
        gate=gate,
        index=IndexClient(process.peer("search")),
        intake=IntakeClient(ingest),
        pushes=PushClient(ingest),
        extract=ExtractClient(process.peer("extract")),
        mailer=make_mailer(process),
        limits=SignInLimits(process.clock),
        renderer=Renderer(process.clock, settings.ai.position, settings.home),
        origin=origin,
        home=home,
        trusted_proxies=frozenset(settings.gateway.trusted_proxies),
        classifier=Classifier() if settings.signin.classifier else None,
    )
    process.on_close(desk.settle)
    process.serve_http(make_app(desk, process), host=settings.gateway.host, port=settings.gateway.port)


if __name__ == "__main__":
    run_service("gateway", build)
