"""Run every benchmark, or those named: `python -m bench page seal`."""

import sys

from bench import calls, page, seal
from bench.measure import Figure

ALL = {"seal": seal.run, "calls": calls.run, "page": page.run}


def main(names: list[str]) -> None:
    """Print JSON lines as they come, then a table of everything."""
    rows: list[tuple[Figure, Figure | None]] = []
    for name in names or list(ALL):
        for mine, peer in ALL[name]():
            print(mine.line(peer), flush=True)
            rows.append((mine, peer))
    print(f"\n{'':34}{'p50 ms':>10}{'p99 ms':>10}   beside its peer")
    for mine, peer in rows:
        beside = f"{mine.p50 / peer.p50:.2f} x {peer.name} ({mine.p50 - peer.p50:+.2f} ms)" if peer else ""
        print(f"{mine.name:34}{mine.p50:>10}{mine.p99:>10}   {beside}")


if __name__ == "__main__":
    main(sys.argv[1:])
