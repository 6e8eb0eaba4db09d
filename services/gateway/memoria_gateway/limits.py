"""How often sign-in may be asked for: per address and per network, before anything else looks at the address (AMD-07).

Kept in memory: a restart forgets them, which costs an attacker a restart of our process and us nothing on disk.
"""

import hashlib
import secrets
from collections import deque
from ipaddress import ip_address

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


def _network(host: str) -> str:
    """An IPv4 address, or an IPv6 /64: what one subscriber commonly holds."""
    try:
        address = ip_address(host)
    except ValueError:
        return "unknown"
    return str(address) if address.version == 4 else address.exploded[:19]
