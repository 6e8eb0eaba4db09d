"""Which addresses and host names somebody else's DNS record may send us to: public ones only."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network

_V4_CLOSED = tuple(
    IPv4Network(net)
    for net in (
        "0.0.0.0/8",  # this network, unspecified
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers' own
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, where clouds keep their metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
"""Written out: what `ipaddress` calls global has changed between the Python versions that this runs on."""

_V6_OPEN = IPv6Network("2000::/3")
"""Global unicast. Outside of it lie loopback, mapped IPv4 (::ffff:0:0/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), unique
local, link-local and multicast."""

_V6_CLOSED = tuple(
    IPv6Network(net)
    for net in (
        "2001::/23",  # protocol assignments; Teredo, which wraps an IPv4 address, is in it
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which wraps an IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)+(?=[a-z]){_LABEL}")
_MOST_CHARACTERS = 253


def is_public(address: str) -> bool:
    """Whether a connection to `address` leaves for the public network.

    A form of IPv6 that wraps an IPv4 address is refused whatever it wraps: a host that can be reached has an address of
    its own as well, and one rule fewer is one fewer to be tricked in.
    """
    try:
        v4 = IPv4Address(address)
    except AddressValueError:
        pass
    else:
        return not any(v4 in net for net in _V4_CLOSED)
    try:
        v6 = IPv6Address(address)
    except AddressValueError:
        return False
    return v6.scope_id is None and v6 in _V6_OPEN and not any(v6 in net for net in _V6_CLOSED)


def host_name(text: str) -> str | None:
    """`text` as a host name of the public DNS, lower case; None where it is anything else.

    Two labels at least, ASCII, the last one beginning with a letter: no port, user, scheme or path, and nothing that a
    resolver might read as a number.
    """
    name = text.lower()
    return name if len(name) <= _MOST_CHARACTERS and _NAME.fullmatch(name) else None
