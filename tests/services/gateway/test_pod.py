"""Probes, jobs behind replies, limits, mail, and what reaches a log (DEP-01, G04, TRU-06)."""

import asyncio
from email import message_from_bytes, policy
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client import generate_latest

from memoria_chassis.clock import FakeClock
from memoria_chassis.config import load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.__main__ import make_mailer
from memoria_gateway.limits import PER_NETWORK, SignInLimits
from memoria_gateway.mail import Outbox, SmtpMailer

ANN = "ann@example.test"


async def test_readyz_names_who_is_missing(pod, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with the names and nothing else; healthz stays. Broken to see red: one of the four not asked."""
    monkeypatch.setattr("memoria_gateway.pod._KEPT_SECONDS", -1)
    assert (await pod.browser().get("/readyz")).text == "ready\n"
    down = ServiceError(Kind.UNAVAILABLE, "canary")

    async def dead() -> None:
        raise down

    pod.gate.down = pod.index.down = pod.intake.down = down
    pod.extract.alive = dead
    reply = await pod.browser().get("/readyz")
    assert (reply.status_code, reply.text) == (503, "not ready: authz, search, ingest, extract\n")
    pod.gate.down = pod.intake.down = None
    assert (await pod.browser().get("/readyz")).text == "not ready: search, extract\n"
    assert (await pod.browser().get("/healthz")).status_code == 200
    pod.index.down, pod.extract.alive = None, pod._nothing
    pod.process.stopping.set()
    assert (await pod.browser().get("/readyz")).text == "not ready: gateway\n"


async def test_probes_do_not_keep_a_pod_awake(pod) -> None:
    """`/idle` counts people's requests, not its own kind (AMD-08)."""
    await pod.browser().get("/signin")
    before = pod.process.activity._last
    for path in ("/healthz", "/readyz", "/idle"):
        await pod.browser().get(path)
    assert pod.process.activity._last == before
    assert (await pod.browser().get("/idle")).json()["safe_to_stop"] is True


async def test_metrics_are_labelled_by_pattern(pod) -> None:
    """Never by what was asked for: an id, a query, a made-up path."""
    browser = await pod.signed_in()
    for path in ("/documents/canary-id", "/canary-path", "/?q=canary-query", "/static/canary.css"):
        await browser.get(path)
    await browser.request("CANARY", "/documents/x")
    said = generate_latest().decode()
    assert 'route="/documents/{id}"' in said
    assert 'route="other"' in said
    assert "canary" not in said.lower()


async def test_a_job_that_fails_or_hangs_harms_nobody(pod, monkeypatch: pytest.MonkeyPatch, logs) -> None:
    """Its failure is logged by kind; at shutdown a hanging one is ended, not left pending."""

    async def refused() -> None:
        raise ServiceError(Kind.UNAVAILABLE, "canary")

    async def broken() -> None:
        raise ValueError("canary")

    pod.desk.behind(refused())
    pod.desk.behind(broken())
    await pod.desk.settle()
    assert logs().count("a job behind a reply failed") == 2
    assert "canary" not in logs()
    real = asyncio.wait
    monkeypatch.setattr(asyncio, "wait", lambda jobs, timeout: real(jobs, timeout=0.05))
    pod.desk.behind(asyncio.sleep(600))
    await pod.desk.settle()
    assert pod.desk.jobs == set()


async def test_no_content_and_no_secret_reaches_a_log(pod, logs) -> None:
    """Query, address, link, token, file name: over a whole visit and its errors (G04, SRF-02).

    Presence: the mailer got the link, the pages were served, the log has lines. Broken to see red: the link logged.
    """
    browser = await pod.signed_in()
    link = pod.mailer.sent[-1][1]
    token = await pod.store.new_token(ANN, "canary-name", "write", 7)
    program = pod.browser(headers={"Authorization": f"Bearer {token}"})
    for failure in (
        None,
        ServiceError(Kind.INTERNAL, "x"),
        ServiceError(Kind.UNAVAILABLE, "x"),
        ValueError("canary-value"),
    ):
        pod.index.down = failure
        await browser.get("/?q=canary-query")
        await program.get("/api/v1/search?q=canary-query")
        await browser.get("/documents/canary-document")
        await program.post("/api/v1/documents", files={"f": ("canary-file.md", b"canary-text")})
        await browser.post("/documents", content=b"canary-body", headers={"content-type": "canary/type"})
        await browser.get("/canary-path?canary=1", headers={"host": "canary.example"})
    await browser.get(link)
    said = logs()
    assert said.count("page failed") >= 6
    assert pod.intake.files[0] == ("canary-file.md", b"canary-text")
    for secret in ("canary", ANN, link.partition("token=")[2], token, browser.cookies["memoria_session"]):
        assert secret not in said


def test_a_network_has_its_own_budget() -> None:
    """A hundred of any addresses from one network, an IPv6 /64 being one; another network is not touched."""
    limits = SignInLimits(FakeClock())
    assert all(limits.admit(f"a{n}@x.test", "2001:db8::1") for n in range(PER_NETWORK))
    assert not limits.admit("new@x.test", "2001:db8::ffff")
    assert limits.admit("new@x.test", "2001:db8:0:1::1")
    assert limits.admit("new@x.test", "192.0.2.1")
    for odd in ("", "testclient", "192.0.2.1:80", "\ud800"):
        assert limits.admit(f"odd@{odd!a}.test", odd)


def test_hammering_keeps_the_door_shut_and_memory_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused requests count too; a flood of made-up addresses pushes out the oldest, not the heap."""
    clock = FakeClock()
    limits = SignInLimits(clock)
    for _ in range(30):
        limits.admit(ANN, "192.0.2.1")
        clock.advance(60)
    assert not limits.admit(ANN, "192.0.2.1")
    monkeypatch.setattr("memoria_gateway.limits._MAX_KEYS", 100)
    for number in range(500):
        limits.admit(f"{number}@x.test", f"10.0.{number // 250}.{number % 250}")
    assert len(limits._seen) <= 101


async def test_the_outbox_holds_whole_mails_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file a mail, by date, link unbroken, with the headers a mail must have; nothing half is called .eml."""
    outbox = Outbox(tmp_path / "outbox", "memoria@localhost", lambda: 7)
    link = "http://localhost:8080/auth/verify?token=" + "x" * 43
    seen: list[set[str]] = []
    real = Path.rename

    def rename(path: Path, target: Path) -> Path:
        seen.append({found.name for found in path.parent.glob("*.eml")})
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    await outbox.send(ANN, link)
    assert seen == [set()]
    (mail,) = (tmp_path / "outbox").glob("*.eml")
    message = message_from_bytes(mail.read_bytes(), policy=policy.default)
    assert (message["To"], message["From"]) == (ANN, "memoria@localhost")
    assert message["Date"]
    assert message["Message-ID"]
    assert link in message.get_content()


@pytest.mark.parametrize("url", ["", "http://mail.example", "smtp://", "mail.example:25"])
def test_a_mail_server_that_is_none_is_refused(url: str) -> None:
    """At start, without repeating it."""
    with pytest.raises(ServiceError) as refused:
        SmtpMailer(url, "memoria@localhost")
    assert refused.value.message == "mail.url must be smtp://host[:port] or smtps://host[:port]"


async def test_a_mail_server_that_is_away_is_unavailable() -> None:
    """One sentence, without address or link."""
    with pytest.raises(ServiceError) as failed:
        await SmtpMailer("smtp://127.0.0.1:1", "memoria@localhost").send(ANN, "http://x/canary")
    assert failed.value.kind is Kind.UNAVAILABLE
    assert "canary" not in failed.value.message


def test_only_a_development_zone_has_an_outbox(tmp_path: Path) -> None:
    """Elsewhere a missing mail server is refused at start: links would lie about for anyone to follow."""
    base = {"MEMORIA_DATA_DIR": str(tmp_path)}
    assert isinstance(make_mailer(SimpleNamespace(settings=load_settings(base))), Outbox)
    with pytest.raises(ServiceError) as refused:
        make_mailer(SimpleNamespace(settings=load_settings(base | {"MEMORIA_ZONE": "example.test"})))
    assert refused.value.kind is Kind.PRECONDITION
    mailed = load_settings(base | {"MEMORIA_ZONE": "example.test", "MEMORIA_MAIL_URL": "smtps://u:p@mail.example"})
    assert isinstance(make_mailer(SimpleNamespace(settings=mailed)), SmtpMailer)
