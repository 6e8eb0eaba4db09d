"""The naive oracle argues with every reference sibling over histories of edits, grants, moves, deletions and restores.

The kit's Model recomputes each verdict, the announce, the feed, every text and every aggregate from the world and the
history; what a sibling answers over the wire must be that, after every single step.
"""

import asyncio
import shutil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit_harness import ASK, PULL, empty_sibling, mutant, target_of

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit import Stage, Target
from memoria_conformance.kit.model import Model, world_params
from memoria_conformance.kit.scene import CheckFailed, Scene
from memoria_conformance.kit.steps import STEPS
from memoria_conformance.references.connectrpc_sibling import make_reference
from memoria_conformance.selftest import NODE_FOLDER, REFERENCES, serve_reference

_NODE = shutil.which("node") is not None and (NODE_FOLDER / "node_modules").is_dir()
PEOPLE = ("asker.ann", "asker.ben")
ITEMS = ("doc.alpha", "doc.narrow", "doc.barred", "doc.private", "doc.granted", "sheet.ledger", "sheet.narrow")
RUNGS = ("team", "granted", "guest", "link", "private")

Act = tuple[str, str, str, str]
"""(verb, item, person, rung); what a verb has no use for is ignored."""

acts = st.tuples(
    st.sampled_from(
        [
            *("edit", "edit", "move_rung", "move_rung", "grant", "revoke", "remove_person", "restore_person"),
            *("delete", "rewind", "lose", "restore_to"),
        ]
    ),
    st.sampled_from(ITEMS),
    st.sampled_from(PEOPLE),
    st.sampled_from(RUNGS),
)
histories = st.lists(acts, min_size=1, max_size=8)


class Argument:
    """One sibling, one world, and a consumer that follows the feed as memoria does."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.silent = False  # a partial restore tells nobody: only an announce can settle what a consumer holds
        self.tampered = False  # and a whole backup put back after one undoes what nobody was told

    async def step(self, kind: str, **fields: Any) -> None:
        """One step of the suite's language."""
        message = getattr(pb, kind.capitalize())(**fields)
        await STEPS[kind](message, self.scene)

    async def act(self, number: int, act: Act) -> None:
        """Do it at the sibling and in the model, where it can be done at all."""
        verb, alias, person, rung = act
        item = self.scene.model.items.get(alias)
        if verb == "restore_to":
            await self._state("restore_to", point="loaded")
            self.silent = self.tampered
            return
        if item is None:
            return
        match verb:
            case "edit" if item.tabs:
                tab = item.tabs[0]["name"]
                await self._state("edit", item=alias, cells=[{"tab": tab, "row": 1, "column": 2, "value": number}])
            case "edit":
                await self._state("edit", item=alias, body=f"Edit number {number} of {alias}.")
            case "move_rung":
                await self._state("move_rung", item=alias, rung=rung)
            case "delete":
                await self._state("delete", item=alias)
            case "rewind":
                if len(item.log) > 1:
                    await self._state("partial_restore", item=alias, steps=1)
                    self.silent = self.tampered = True
            case "lose":
                await self._state("partial_restore", item=alias, lose=True)
                self.silent = self.tampered = True
            case _:
                await self._state(verb, item=alias, person=person)

    async def _state(self, verb: str, **params: Any) -> None:
        message = pb.State(verb=verb)
        message.params.update(params)
        await STEPS["state"](message, self.scene)

    async def compare(self) -> None:
        """Every person, every item, every revision it ever had and one it never had; the feed; a text; a sum."""
        asked = [(alias, "never") for alias in (*ITEMS, "never.was")]
        asked += [(alias, f"#{n}") for alias in ITEMS for n in range(len(self.scene.world.history[alias]))]
        for person in PEOPLE:
            pairs = {(alias, self.scene.revision(alias, which)): which for alias, which in asked}
            await self.step("ask", asker=person, pairs=[pb.AskedPair(item=alias, revision=r) for alias, r in pairs])
            for alias in ("sheet.ledger", "sheet.narrow"):
                if alias in self.scene.world.ids:
                    await self._sum(person, alias)
        for alias in ITEMS:
            item = self.scene.model.items.get(alias)
            fields = {} if item is not None and item.rung == "team" else {"refused": pb.Refused(codes=["not_found"])}
            await self.step("content", item=alias, **fields)
        await self._follow()

    async def _sum(self, person: str, alias: str) -> None:
        tab = "P&L" if alias == "sheet.ledger" else "T"
        first = self.scene.world.history[alias][0]
        cells = [pb.AskedCell(item=alias, tab=tab, row=1, column=2)]
        cells += [pb.AskedCell(item=alias, tab=tab, row=1, column=2, revision=str(first))]
        for chosen in (cells[:1], cells[1:], cells):
            await self.step("aggregate", asker=person, function=sibling.AGGREGATE_FUNCTION_SUM, cells=chosen)

    async def _follow(self) -> None:
        if not self.silent:
            try:
                cursor = "$saved:mine.cursor" if "mine.cursor" in self.scene.saved else ""
                await self.step("changes", cursor=cursor, onto="mine", save="mine", settles=True)
            except CheckFailed as failed:
                if "reannounce_required" not in str(failed):
                    raise
                self.silent = True
        await self.step("announce", settles=True)
        if self.silent:
            await self.step("announce", save="mine", settles=True)
            self.silent = False


async def argue(target: Target, history: list[Act]) -> None:
    """Load the world, walk the history, compare after every step. CheckFailed where the two disagree."""
    stage = Stage(target)
    try:
        await stage.prepare()
        world = await stage.world()
        argument = Argument(stage.scene(world))
        await argument.compare()
        for number, act in enumerate(history):
            await argument.act(number, act)
            await argument.compare()
    finally:
        await stage.leave()
        await target.channel.close()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(histories, st.sampled_from(["hash", "counter", "ulid"]))
def test_ours(history: list[Act], style: str) -> None:
    """The demo sheets app, in each of its styles of revision."""
    asyncio.run(argue(target_of(empty_sibling(revisions=style)), history))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(histories)
def test_the_one_on_connectrpc(history: list[Act]) -> None:
    """Written by somebody else, on another library, keyed on person_ref, with ULIDs."""
    origin = "http://sibling.localhost"
    app, hook = make_reference({"pull": PULL, "ask": ASK}, state_token=None, origin=origin, page_rows=4)
    asyncio.run(argue(Target.asgi(app, pull_token=PULL, ask_token=ASK, origin=origin, state=hook), history))


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None or not (NODE_FOLDER / "node_modules").is_dir(),
    reason="Node or its packages are missing",
)
@settings(max_examples=8, deadline=None)
@given(histories)
def test_the_one_on_node(history: list[Act]) -> None:
    """In another language; every history over the network."""
    node = next(reference for reference in REFERENCES if reference.command[0] == "node")

    async def go() -> None:
        async with serve_reference(node) as target:
            await argue(target, history)

    asyncio.run(go())


QUARREL: list[Act] = [
    ("edit", "doc.alpha", "", ""),
    ("grant", "doc.private", "asker.ben", ""),
    ("move_rung", "doc.narrow", "", "granted"),
    ("rewind", "doc.alpha", "", ""),
    ("edit", "sheet.ledger", "", ""),
    ("remove_person", "doc.alpha", "asker.ann", ""),
    ("lose", "doc.barred", "", ""),
    ("restore_to", "", "", ""),
    ("delete", "doc.alpha", "", ""),
    ("move_rung", "doc.private", "", "team"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("custody-not-intersected", "cached-verdicts", "ahead-for-missing-row", "log-outlives-restore"),
        *("leaving-untold", "return-untold", "announces-newest", "cached-content", "cached-aggregates"),
        *("restore-forgotten", "removed-may-read", "stale-is-ahead", "edit-untold", "recent-only"),
    ],
)
def test_the_oracle_can_win_an_argument(name: str) -> None:
    """One history, in which each of these faults is contradicted; a right sibling walks it in peace."""
    asyncio.run(argue(target_of(empty_sibling()), QUARREL))
    with pytest.raises(CheckFailed):
        asyncio.run(argue(mutant(name), QUARREL))


def test_the_oracle_knows_what_it_was_told() -> None:
    """Its rules on one item, spelled out: team, revision, removal, rung, deletion."""
    from memoria_contract.types import Verdict

    model = Model(world_params("p", sheets=False))
    model.items["doc.alpha"].log = ["1"]
    model.loaded()
    model.apply("edit", {"item": "doc.alpha", "body": "x"}, "2")

    def say(person: str, revision: str) -> Verdict:
        return model.verdict(person, "doc.alpha", revision)

    assert [say("asker.ann", r) for r in ("1", "2", "3")] == [Verdict.STALE, Verdict.VISIBLE, Verdict.AHEAD]
    model.apply("remove_person", {"item": "doc.alpha", "person": "asker.ann"})
    assert {say("asker.ann", r) for r in ("1", "2", "3")} == {Verdict.NOT_VISIBLE}
    assert say("asker.ben", "2") is Verdict.VISIBLE
    model.apply("move_rung", {"item": "doc.alpha", "rung": "granted"})
    assert say("asker.ben", "2") is Verdict.NOT_VISIBLE
    model.apply("restore_to", {"point": "loaded"})
    assert [say("asker.ben", r) for r in ("1", "2")] == [Verdict.VISIBLE, Verdict.AHEAD]
    model.apply("delete", {"item": "doc.alpha"})
    assert say("asker.ben", "1") is Verdict.NOT_VISIBLE
