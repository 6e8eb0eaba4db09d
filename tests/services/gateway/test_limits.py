"""Who a sign-in is counted for when proxies stand in between (AMD-07)."""

import pytest
from starlette.requests import Request

from memoria_gateway.limits import client_host

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
