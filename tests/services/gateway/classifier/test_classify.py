"""The classifier against a hostile domain, and that nothing is asked about who is not admitted (AUT-21, G33)."""

import time

import pytest

from memoria_gateway.__main__ import Classifier

ANN, STRANGER = "ann@example.test", "eve@evil.test"
PUBLIC = "93.184.216.34"


async def test_a_stranger_causes_no_lookup_and_no_fetch(pod, net) -> None:
    """Admission first: nothing leaves about a stranger, one look-up and one fetch about an admitted domain, and
    both get the same reply (G33). Broken to see red: the classifier asked ahead of admission.
    """
    pod.desk.classifier = net.classifier
    refused = await pod.ask_link(pod.browser(), STRANGER)
    await pod.ask_link(pod.browser(), "no address at all")
    assert net.looked == net.resolved == net.dialled == []
    admitted = await pod.ask_link(pod.browser(), ANN)
    assert net.looked == ["_keymail.example.test"]
    assert net.resolved == ["vouch.example.org"]
    assert net.dialled == [(PUBLIC, "vouch.example.org")]
    assert [(r.status_code, r.content, r.headers.multi_items()) for r in (refused,)] == [
        (r.status_code, r.content, r.headers.multi_items()) for r in (admitted,)
    ]
    assert [address for address, _ in pod.mailer.sent] == [ANN]


async def test_an_address_over_its_budget_causes_none_either(pod, net) -> None:
    """Ten submissions, ten look-ups; the eleventh is refused in front of everything."""
    pod.desk.classifier = net.classifier
    for _ in range(12):
        await pod.ask_link(pod.browser(), ANN)
    assert (len(net.looked), len(net.dialled)) == (10, 10)


async def test_it_is_off_unless_switched_on(pod) -> None:
    """The desk has none by default."""
    assert pod.desk.classifier is None
    assert not pod.process.settings.signin.classifier


async def test_a_domain_that_vouches(net) -> None:
    """Asked for its front page and nothing else: the request says nothing about the person."""
    assert await net.classifier.classify(ANN) == "keymail"
    assert net.writer.sent == (
        b"GET / HTTP/1.1\r\nHost: vouch.example.org\r\nUser-Agent: memoria\r\nConnection: close\r\n\r\n"
    )
    assert net.writer.transport.aborted


@pytest.mark.parametrize(
    "records",
    [
        [],
        [b"v=spf1 -all"],
        [b"host="],
        [b"host=localhost"],
        [b"host=127.0.0.1"],
        [b"host=2130706433"],
        [b"host=0x7f.0x1"],
        [b"host=[::1]"],
        [b"host=::1"],
        [b"host=vouch.example.org:8443"],
        [b"host=me@vouch.example.org"],
        [b"host=https://vouch.example.org"],
        [b"host=vouch.example.org/admin"],
        [b"host=vouch.example.org."],
        [b"host=vouch..example.org"],
        [b"host=-vouch.example.org"],
        [b"host=vouch.example.org\r\nX: y"],
        [b"host=vouch.example.org\n"],
        [b"host=vouch .example.org"],
        ["host=vöuch.example.org".encode()],
        ["host=127。0。0。1".encode()],
        [b"host=\xff\xfe.org"],
        [b"host=" + b"a" * 64 + b".org"],
        [b"host=" + b"a." * 130 + b"org"],
        [b"host=vouch.example.org", b"host=other.example.org"],
        [b"host=vouch.example.org" + b" " * 60_000],
        [b"host=vouch.example.org"] + [b"filler"] * 1_000,
    ],
)
async def test_a_record_that_names_no_one_host_is_not_followed(net, records: list[bytes]) -> None:
    """Nothing is resolved, nothing dialled. Broken to see red: `host_name` returning its input; no bound on records."""
    net.records = records
    assert await net.classifier.classify(ANN) == "mail"
    assert net.resolved == net.dialled == []


@pytest.mark.parametrize("address", ["you@localhost", "a@[127.0.0.1]", "a@10.0.0.1", "é@ü.example", "", "a@b@c d"])
async def test_a_domain_that_is_none_is_not_looked_up(net, address: str) -> None:
    """The development owner's, for one."""
    assert await net.classifier.classify(address) == "mail"
    assert net.looked == []


# fmt: off
CLOSED = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1",
    "172.31.255.254", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.254",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1",
    "::ffff:10.0.0.1", "::ffff:93.184.216.34", "::10.0.0.1", "64:ff9b::a00:1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1",
    "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:db8::1", "2002:7f00:1::1",
    "2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0",
    "2606:4700::1111%eth0", "fec0::1", "ff02::1", "127.1", "0177.0.0.1", "localhost",
]
# fmt: on


@pytest.mark.parametrize("address", CLOSED)
async def test_no_address_but_a_public_one_is_dialled(net, address: str) -> None:
    """Alone, or beside a public one in either order. Broken to see red: `any` in place of `all`; a row of the list."""
    for answers in ([address], [PUBLIC, address], [address, PUBLIC]):
        net.answers = [answers]
        assert await net.classifier.classify(ANN) == "mail"
    assert net.dialled == []


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])
async def test_a_public_one_is(net, address: str) -> None:
    """The check refuses no neighbour of what it closes."""
    net.answers = [[address]]
    assert await net.classifier.classify(ANN) == "keymail"
    assert net.dialled == [(address, "vouch.example.org")]


async def test_a_name_is_resolved_once_and_that_address_is_dialled(net) -> None:
    """A name that turns private after the look gains nothing. Broken to see red: resolved anew for the connection."""
    net.answers = [[PUBLIC], ["127.0.0.1"]]
    assert await net.classifier.classify(ANN) == "keymail"
    assert (len(net.resolved), net.dialled) == (1, [(PUBLIC, "vouch.example.org")])


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/\r\n\r\n",
        b"HTTP/1.1 301 Moved\r\nLocation: https://vouch.example.org/x\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200 " + b"x" * 1_000_000,
        b"HTTP/1.1 200 " + b"x" * 20_000 + b"\r\n\r\n",
        b"\x00" * 50_000,
        b"",
    ],
)
async def test_any_other_reply_vouches_for_nobody(net, reply: bytes) -> None:
    """One fetch, whatever it says: a redirect leads nowhere."""
    net.reply = reply
    assert await net.classifier.classify(ANN) == "mail"
    assert len(net.dialled) == 1
    assert net.writer.transport.aborted


async def test_a_slow_drip_ends_at_the_deadline(net) -> None:
    """Every byte in time and the whole never. Broken to see red: no deadline around it."""
    net.reply, net.drip = b"HTTP/1.1 200 " + b"x" * 1_200, 0.01
    began = time.monotonic()
    assert await net.classifier.classify(ANN) == "mail"
    assert time.monotonic() - began < 10  # it would be twelve and more
    assert net.writer.transport.aborted


async def test_nobody_there_is_no_failure_and_nothing_is_logged(net, logs) -> None:
    """Refused, or a certificate of another: class `mail`, and no domain in the log."""
    net.error = ConnectionRefusedError()
    assert await net.classifier.classify(ANN) == "mail"
    assert logs() == ""


def test_the_recipe_can_make_one() -> None:
    """Without arguments it asks the real network; making it asks nothing."""
    Classifier()
