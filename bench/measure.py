"""Timing, and how a figure is written down."""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


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
                "ratio_p50": significant(self.p50 / peer.p50),
                "over_p50_ms": round(self.p50 - peer.p50, 2),
            }
        return json.dumps(tree)

    def row(self, peer: "Figure | None" = None) -> str:
        """One line of the table."""
        beside = f"{significant(self.p50 / peer.p50)} x {peer.name} ({self.p50 - peer.p50:+.2f} ms)" if peer else ""
        return f"{self.name:50}{self.p50:>11}{self.p99:>11}   {beside}"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One measured number that is no duration of one call."""

    name: str
    value: float
    unit: str
    note: str = ""

    def line(self, peer: "Quantity | None" = None) -> str:
        """One JSON line."""
        tree: dict[str, object] = {"name": self.name, "value": significant(self.value), "unit": self.unit}
        if self.note:
            tree["note"] = self.note
        if peer is not None:
            tree |= {"peer": peer.name, "ratio": significant(self.value / peer.value)}
        return json.dumps(tree)

    def row(self, peer: "Quantity | None" = None) -> str:
        """One line of the table."""
        beside = f"{significant(self.value / peer.value)} x {peer.name}" if peer else self.note
        return f"{self.name:50}{significant(self.value):>11,} {self.unit:10}   {beside}"


Row = tuple[Figure, Figure | None] | tuple[Quantity, Quantity | None]
"""A figure and its peer in the same run."""


def significant(value: float, digits: int = 3) -> float:
    """Rounded to so many digits that say something."""
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) else rounded


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


def time_each(asked: Sequence[T], call: Callable[[T], object], warm: int = 20) -> list[float]:
    """Seconds of one call for each of `asked`, after the first `warm` of them were asked once."""
    for each in asked[:warm]:
        call(each)
    taken = []
    for each in asked:
        began = time.perf_counter()
        call(each)
        taken.append(time.perf_counter() - began)
    return taken
