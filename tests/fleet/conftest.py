"""Whole fleets for the stories: one shared by a story, and ones of a test's own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import Fleet


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A demo fleet, shared by one story."""
    running = Fleet(tmp_path_factory.mktemp("fleet") / "data")
    try:
        running.settled()
        yield running
    finally:
        running.stop()


@pytest.fixture
def new_fleet(tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    """Makes fleets of the test's own."""
    made: list[Fleet] = []

    def make(*options: str) -> Fleet:
        made.append(Fleet(tmp_path / f"data{len(made)}", *options))
        return made[-1]

    yield make
    for running in made:
        running.stop()
