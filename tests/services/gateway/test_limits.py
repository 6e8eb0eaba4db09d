"""Who a sign-in is counted for when proxies stand in between (AMD-07)."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from memoria_chassis.clock import FakeClock
from memoria_gateway.limits import PER_ADDRESS, PER_NETWORK, WINDOW_SECONDS, SignInLimits, client_host

PROXIES = frozenset({"10.0.0.1", "10.0.0.2"})


def request(peer: str, *forwarded: str) -> Request:
    """A request from `peer`, with X-Forwarded-For lines."""
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    return Request({"type": "http", "client": (peer, 1), "headers": headers})


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.9", (), "203.0.113.9"),
        ("203.0.113.9", ("198.51.100.7",), "203.0.113.9"),  # a stranger's word about itself is not believed
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("198.51.100.7",), "198.51.100.7"),
        ("10.0.0.1", ("1.1.1.1, 198.51.100.7, 10.0.0.2",), "198.51.100.7"),  # the last that no proxy of ours wrote
        ("10.0.0.1", ("1.1.1.1", "198.51.100.7"), "198.51.100.7"),
        ("10.0.0.1", ("garbage",), "garbage"),
    ],
)
def test_the_last_hop_that_is_not_ours_is_counted(peer: str, forwarded: tuple[str, ...], expected: str) -> None:
    """Broken to see red: the first address of the header taken, which its sender chooses."""
    assert client_host(request(peer, *forwarded), PROXIES) == expected


def test_without_proxies_nothing_is_believed() -> None:
    """The default."""
    assert client_host(request("10.0.0.1", "198.51.100.7"), frozenset()) == "10.0.0.1"


def exhaust(limits: SignInLimits, host: str, count: int, address: str = "a{}@x.test") -> list[bool]:
    """`count` submissions from `host`."""
    return [limits.admit(address.format(number), host) for number in range(count)]


def test_a_network_has_a_budget_of_its_own() -> None:
    """A hundred addresses from one network, then none, for anyone there; another network is not touched (AMD-07).

    Broken to see red: IPv6 counted by the address, not the /64.
    """
    for inside, same, other in (
        ("203.0.113.9", "203.0.113.9", "203.0.113.10"),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"),
    ):
        limits = SignInLimits(FakeClock())
        assert exhaust(limits, inside, PER_NETWORK) == [True] * PER_NETWORK
        assert not limits.admit("new@x.test", same)
        assert limits.admit("newer@x.test", other)


def test_either_budget_is_spent_whatever_the_other_says() -> None:
    """Submissions that the address's budget refuses still spend the network's.

    Broken to see red: the network counted only where the address passed.
    """
    limits = SignInLimits(FakeClock())
    assert exhaust(limits, "203.0.113.9", PER_NETWORK, "same@x.test").count(True) == PER_ADDRESS
    assert not limits.admit("new@x.test", "203.0.113.9")


def test_hammering_stays_shut() -> None:
    """What was refused counts too: who goes on asking stays out past the first window.

    Broken to see red: a refused submission not counted.
    """
    clock = FakeClock()
    limits = SignInLimits(clock)
    exhaust(limits, "203.0.113.9", PER_ADDRESS, "a@x.test")
    clock.advance(WINDOW_SECONDS - 60)
    exhaust(limits, "203.0.113.9", PER_ADDRESS, "a@x.test")
    clock.advance(61)
    assert not limits.admit("a@x.test", "203.0.113.9")
    assert not limits.admit(" A@X.test", "198.51.100.7")  # however it is written, and from wherever
    clock.advance(WINDOW_SECONDS + 1)
    assert limits.admit("a@x.test", "203.0.113.9")


def test_a_flood_of_addresses_pushes_out_the_oldest_and_not_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Full of made-up addresses it still counts who asks now. Broken to see red: the newest entry dropped."""
    monkeypatch.setattr("memoria_gateway.limits._MAX_KEYS", 4)
    limits = SignInLimits(FakeClock())
    for number in range(10):
        limits.admit(f"flood{number}@x.test", f"198.51.100.{number}")
    assert exhaust(limits, "203.0.113.9", PER_ADDRESS + 1, "a@x.test") == [True] * PER_ADDRESS + [False]
    assert len(limits._seen) == 4


def spent_by_one(inside: str, asker: str) -> bool:
    """Whether `asker` finds the budget spent once `inside` has spent its own."""
    limits = SignInLimits(FakeClock())
    exhaust(limits, inside, PER_NETWORK)
    return not limits.admit("new@x.test", asker)


def written_in_ipv6(address: IPv4Address) -> list[str]:
    """The forms in which an IPv4 host reaches an IPv6 socket: mapped, by NAT64, by 6to4 from any of its networks."""
    v4 = int(address)
    return [
        f"::ffff:{address}",
        str(IPv6Address(0xFFFF << 32 | v4)),
        str(IPv6Address(0x64FF9B << 96 | v4)),
        str(IPv6Address(0x2002 << 112 | v4 << 80 | 0x1234 << 64 | 9)),
    ]


@given(st.ip_addresses(v=4), st.ip_addresses(v=4))
def test_an_ipv4_address_has_one_budget_however_it_is_written(one: IPv4Address, other: IPv4Address) -> None:
    """The forms of one address share its budget; another address in the same form has its own (AMD-07).

    Broken to see red: `ipv4_mapped` not looked at, so that all mapped addresses share one /64; the same for NAT64 and,
    counted by the /64, for 6to4.
    """
    for form, others in zip(written_in_ipv6(one), written_in_ipv6(other), strict=True):
        assert spent_by_one(form, str(one))
        assert spent_by_one(form, others) == (one == other)


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_any_other_ipv6_address_counts_by_its_64(address: IPv6Address, end: int) -> None:
    """Whatever its last 64 bits say."""
    if address.ipv4_mapped or int(address) >> 96 == 0x64FF9B or int(address) >> 64 == 0:
        return
    neighbour = IPv6Address(int(address) >> 64 << 64 | end)
    assert spent_by_one(str(address), str(neighbour))


@pytest.mark.parametrize(
    ("hop", "same_as"),
    [("7.7.7.7:123", "7.7.7.7"), ("[2001:db8::1]:443", "2001:db8::2"), ("[2001:db8::1]", "2001:db8::1")],
)
def test_a_port_that_a_proxy_writes_is_no_part_of_an_address(hop: str, same_as: str) -> None:
    """Each address has its own budget, or all behind such a proxy would share that of whoever is unknown.

    Broken to see it red: the port left on.
    """
    limits = SignInLimits(FakeClock())
    for number in range(PER_NETWORK):
        assert limits.admit(f"a{number}@example.test", hop)
    assert not limits.admit("b@example.test", same_as)
    assert limits.admit("c@example.test", "8.8.8.8:123")
