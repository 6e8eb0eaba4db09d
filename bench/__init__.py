"""Benchmarks: each figure beside a peer's in the same run. `make bench` prints JSON lines, then a table."""
