"""Run every benchmark, or those named: `python -m bench lexical seal --chunks 10000`."""

import argparse
from collections.abc import Callable, Iterable

from bench import calls, growth, hybrid, ingest, lexical, load, page, seal, snapshot, vectors
from bench.measure import Row
from bench.plan import Plan

ALL: dict[str, Callable[[Plan], Iterable[Row]]] = {
    "seal": lambda plan: seal.run(),
    "calls": lambda plan: calls.run(),
    "page": lambda plan: page.run(),
    "load": lambda plan: load.run(),
    "lexical": lexical.run,
    "vectors": vectors.run,
    "hybrid": hybrid.run,
    "ingest": ingest.run,
    "snapshot": snapshot.run,
    "growth": growth.run,
}


def main() -> None:
    """Print JSON lines as they come, then a table of everything."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *ALL], help="all of them if none is named")
    parser.add_argument("--chunks", type=int, action="append", help="size of the corpus; may be given several times")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--no-peers", action="store_true", help="only our own: the peers take most of the time")
    given = parser.parse_args()
    plan = Plan(tuple(sorted(given.chunks or (90_000, 1_000_000))), given.queries, not given.no_peers)
    table: list[str] = []
    for name in given.names or list(ALL):
        for mine, peer in ALL[name](plan):
            print(mine.line(peer), flush=True)  # type: ignore[arg-type]  # a row's peer is of its own kind
            table.append(mine.row(peer))  # type: ignore[arg-type]  # a row's peer is of its own kind
    print(f"\n{'':50}{'p50 ms':>11}{'p99 ms':>11}   beside its peer")
    print("\n".join(table))
    for size in plan.sizes:
        plan.close(size)


if __name__ == "__main__":
    main()
