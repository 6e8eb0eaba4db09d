"""Puts a demo app together with one of its parts exchanged for a faulty one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp

from memoria_conformance.consumers import Consumers
from memoria_conformance.faults import Faults
from memoria_conformance.feed import Feed
from memoria_conformance.kit.target import Target
from memoria_conformance.rulings import Rulings
from memoria_conformance.server import SiblingServer
from memoria_conformance.sibling import Sibling
from memoria_conformance.state import State
from memoria_conformance.store import Store
from memoria_conformance.world import World
from memoria_contract.types import SubjectKind

_EMPTY = World("", (), ())
_PAGE_ROWS = 50
_ORIGIN = "https://demo.sheets.localhost"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A sheets app that is right but for one thing. Each part not given is the right one."""

    name: str
    says: str  # the fault, in one sentence
    store: type[Store] = Store
    consumers: type[Consumers] = Consumers
    feed: type[Feed] = Feed
    rulings: type[Rulings] = Rulings
    server: type[SiblingServer] = SiblingServer
    around: Callable[[ASGIApp], ASGIApp] | None = field(default=None)
    revisions: str = "hash"  # the style that the right app has, too

    def target(self) -> Target:
        """A fresh one, to be asked in this process."""
        store = self.store(revisions=self.revisions)
        consumers = self.consumers(store)
        consumers.configure("memoria.pull", "pull", ["pull-token"])
        consumers.configure("memoria.ask", "ask", ["ask-token"])
        faults = Faults(elsewhere=_ORIGIN)
        feed = self.feed(store, consumers, _PAGE_ROWS)
        rulings = self.rulings(store, (SubjectKind.ADDRESS,))
        server = self.server("sheets", _ORIGIN, store, feed, rulings, faults)
        state = State("sheets", store, consumers, faults, _EMPTY)
        sibling = Sibling("sheets", store, consumers, server, state, None)

        def hook(request: dict[str, Any]) -> dict[str, Any]:
            return state.apply(request["state"], request["params"], request["action"])

        app = self.around(sibling) if self.around is not None else sibling
        return Target.asgi(app, pull_token="pull-token", ask_token="ask-token", origin=_ORIGIN, state=hook)  # noqa: S106 — made up


def alias_of(store: Store, item_id: str) -> str:
    """The suite's name of an item, for faults that concern one kind of item."""
    rows = store.query("select alias from items where item_id = ?", item_id)
    return str(rows[0][0]).rpartition("/")[2] if rows else ""
