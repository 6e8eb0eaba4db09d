"""A conforming sibling is one while its other people and consumers change everything around the run."""

import asyncio
import threading

import pytest
from kit_harness import ASK, PULL, STATE

from memoria_conformance.kit import Runner, Target, packaged_cases
from memoria_conformance.kit.hook_client import UrlHook
from memoria_conformance.kit.model import world_params
from memoria_conformance.kit.report import Exit
from memoria_conformance.kit.verdict import exit_code

pytestmark = pytest.mark.slow
PREFIX = "meanwhile"


class Meanwhile(threading.Thread):
    """Another world on the same app: one of its consumers' tokens are rotated on and on, and its rows are lost.

    Silently, as a bad restore loses them. What moves the feed is left to the run's own cases, which put backups back:
    the app's hook does that for one world alone, and so another's new rows would stand where a real restore had left
    none.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self.begun, self.over = threading.Event(), threading.Event()
        self.rounds = 0
        self.failed: BaseException | None = None
        self._hook = UrlHook(f"{url}/__state", STATE)

    def run(self) -> None:
        """Until it is over."""
        try:
            asyncio.run(self._go())
        except BaseException as error:
            self.failed = error

    async def _go(self) -> None:
        world = world_params(PREFIX, sheets=True, extra=500)
        await self._hook.ask("load_world", world)
        self.begun.set()
        for number, item in enumerate(entry["alias"] for entry in world["items"]):
            if self.over.is_set():
                return
            for scope in ("pull", "ask"):
                where = {"prefix": PREFIX, "consumer": "other", "scope": scope}
                token = f"{scope}-{number}"
                await self._hook.ask("add_token", where | {"token": token})
                await self._hook.ask("retire_tokens", where | {"keep": token})
            await self._hook.ask("partial_restore", {"prefix": PREFIX, "item": item, "lose": True})
            self.rounds += 1


def test_the_suite_is_green_while_others_rotate_tokens_and_lose_rows(url: str) -> None:
    """Every case passes, as it does alone; and what went on beside it did go on.

    Broken to see it red: `retire_tokens` retiring every consumer's.
    """
    meanwhile = Meanwhile(url)
    meanwhile.start()
    try:
        assert meanwhile.begun.wait(30)
        target = Target.network(url, pull_token=PULL, ask_token=ASK, hook=UrlHook(f"{url}/__state", STATE))
        report = asyncio.run(Runner(target).run(packaged_cases()))
    finally:
        meanwhile.over.set()
        meanwhile.join()
    assert meanwhile.failed is None
    assert meanwhile.rounds > 20
    assert [(case.id, case.message) for case in report.results if case.status not in {"pass", "skip"}] == []
    assert exit_code(report) is Exit.CONFORMANT
