"""Timing, and how a figure is written down."""

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured distribution, in milliseconds."""

    name: str
    count: int
    p50: float
    p99: float

    def line(self, peer: "Figure | None" = None) -> str:
        """One JSON line; with a peer, how this one relates to it."""
        tree: dict[str, object] = {"name": self.name, "n": self.count, "p50_ms": self.p50, "p99_ms": self.p99}
        if peer is not None:
            tree |= {
                "peer": peer.name,
                "ratio_p50": round(self.p50 / peer.p50, 2),
                "over_p50_ms": round(self.p50 - peer.p50, 2),
            }
        return json.dumps(tree)


def figure(name: str, seconds: list[float]) -> Figure:
    """Median and 99th percentile (nearest rank)."""
    ordered = sorted(seconds)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000, 3)

    return Figure(name, len(ordered), at(0.5), at(0.99))


async def time_async(count: int, call: Callable[[], Awaitable[object]], warm: int = 20) -> list[float]:
    """Seconds of `count` calls, one after the other, after a few to warm up."""
    for _ in range(warm):
        await call()
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        await call()
        taken.append(time.perf_counter() - began)
    return taken


def time_sync(count: int, call: Callable[[], object], warm: int = 20) -> list[float]:
    """The same for a plain function."""
    for _ in range(warm):
        call()
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return taken
