"""The whole suite inside your own test run, in process: no server, no port. Tokens as in the tutorial."""

import os
from collections.abc import Callable

import pytest
import tiny
import tiny_dev

from memoria_conformance.kit import Target


@pytest.fixture(scope="session")
def memoria_target() -> Target:
    """The app, its tokens, and its state hook as a function."""
    return Target.asgi(
        tiny.app,
        pull_token=os.environ["MEMORIA_PULL_TOKEN"],
        ask_token=os.environ["MEMORIA_ASK_TOKEN"],
        origin=f"http://localhost:{tiny.PORT}",
        state=tiny_dev.state,
    )


def test_contract(memoria_case: Callable[[], None]) -> None:
    """One test a case: S2-04 is `test_contract[S2-04]`."""
    memoria_case()
