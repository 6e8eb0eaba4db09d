"""How often sign-in may be asked for: per address and per network, before anything else looks at the address (AMD-07).

Kept in memory: a restart forgets them, which costs an attacker a restart of our process and us nothing on disk.
"""

import hashlib
import secrets
from collections import deque
from ipaddress import IPv4Address, IPv6Network, ip_address

from starlette.requests import Request

from memoria_chassis.clock import Clock

PER_ADDRESS = 10
PER_NETWORK = 100
WINDOW_SECONDS = 15 * 60
_MAX_KEYS = 50_000  # a flood of made-up addresses must not become a flood of memory


class SignInLimits:
    """Two sliding windows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._salt = secrets.token_bytes(16)
        self._seen: dict[bytes, deque[float]] = {}

    def admit(self, address: str, client_host: str) -> bool:
        """Count a submission; False where either budget is spent. Refused ones count too, so hammering stays shut."""
        now = self._clock.now().timestamp()
        # Both are counted whatever the other says, so that one answer tells nothing of the other.
        within_address = self._count(f"a:{address.strip().lower()}", PER_ADDRESS, now)
        within_network = self._count(f"n:{_network(client_host)}", PER_NETWORK, now)
        return within_address and within_network

    def _count(self, name: str, budget: int, now: float) -> bool:
        key = hashlib.blake2b(name.encode(errors="replace"), key=self._salt, digest_size=16).digest()
        times = self._seen.pop(key, deque(maxlen=budget + 1))
        while times and times[0] <= now - WINDOW_SECONDS:
            times.popleft()
        times.append(now)
        self._seen[key] = times  # re-inserted last: the dict stays in order of use
        if len(self._seen) > _MAX_KEYS:
            self._seen.pop(next(iter(self._seen)))
        return len(times) <= budget


def client_host(request: Request, trusted: frozenset[str]) -> str:
    """Who is at the other end: the peer, or behind proxies of ours the last address that none of them wrote of another.

    Without this everybody behind one proxy would share one network's budget, and anyone could lock the team out.
    """
    host = request.client.host if request.client else ""
    hops = [hop.strip() for hop in ",".join(request.headers.getlist("x-forwarded-for")).split(",") if hop.strip()]
    while host in trusted and hops:
        host = hops.pop()
    return host


def _without_port(host: str) -> str:
    """`[v6]:port` and `v4:port`, as some proxies write a hop, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host


_NAT64 = IPv6Network("64:ff9b::/96")


def _network(host: str) -> str:
    """An IPv4 address, or an IPv6 /64: what one subscriber commonly holds."""
    try:
        address = ip_address(_without_port(host))
    except ValueError:
        return "unknown"
    if isinstance(address, IPv4Address):
        return str(address)
    # A socket that listens on both families shows its IPv4 clients as ::ffff:a.b.c.d, all of them inside one /64. The
    # well-known NAT64 prefix is a /64 of every IPv4 address too. In both the last 32 bits name the host, so each is
    # the IPv4 address inside it: the sender has one return path and cannot choose another's without losing the reply.
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address in _NAT64:
        return str(IPv4Address(int(address) & 0xFFFF_FFFF))
    # 6to4 (2002:V4::/48) holds 65,536 networks of /64 behind one IPv4 address: counted by the /64, one subscriber would
    # have as many budgets. Teredo stays an ordinary /64: that is a relay's server and flags, and what names the client
    # is obfuscated in bits that it partly chooses, so the narrow budget is the safe one. A NAT64 prefix of an
    # operator's own cannot be told from any other network; those clients share a /64, as those behind IPv4 NAT do.
    if address.sixtofour is not None:
        return str(address.sixtofour)
    return str(IPv6Network((int(address) >> 64 << 64, 64)).network_address)
