"""What was made from others is spoken only if each of them may be: the algorithm over roots (ING-20, G19)."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoria.gate.v1 import gate_pb2
from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_authz.ask.bench import MAX_CLAIMS, together
from memoria_authz.claims import DerivedClaim, OwnedRoot, OwnerlessClaim, Ruling
from memoria_authz.orders import OrderKind
from memoria_authz.wire import claims_from
from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import Revision

CURRENT = OwnedRoot("d", Revision("1"), Revision("1"))
SUPERSEDED = OwnedRoot("d", Revision("1"), Revision("2"))
DELETED = OwnedRoot("d", Revision("1"), None)


def answering(house: Any, app: str, said: dict[str, int]) -> None:
    """Have a sibling answer these items so, and all others with VISIBLE."""
    house.siblings[app].say = lambda request: pb.AuthorizeResponse(
        verdicts=[
            pb.ItemVerdict(
                item_id=each.item_id, revision=each.revision, verdict=said.get(each.item_id, pb.VERDICT_VISIBLE)
            )
            for each in request.items
        ]
    )


@pytest.mark.parametrize("failing", ["nobody", "sibling", "owned"])
async def test_mixed_roots_beyond_one_call_are_all_needed(house, ann, claim, failing: str) -> None:
    """300 items of a sibling and one document of ours: two calls, and either kind failing withholds all (G19).

    Broken to see it red, each in turn: any root enough; the owned roots not looked at; only the first 256 asked about.
    """
    roots = [claim("docs", str(number)) for number in range(300)]
    answering(house, "docs", {"299": pb.VERDICT_NOT_VISIBLE} if failing == "sibling" else {})
    (ruling,) = await house.bench.rule(ann, [DerivedClaim((*roots, DELETED if failing == "owned" else CURRENT))])
    assert ruling is (Ruling.SPEAK if failing == "nobody" else Ruling.OMIT)
    assert sorted(len(asked.items) for asked in house.siblings["docs"].asked) == [44, 256]


@pytest.mark.parametrize(
    ("verdict", "ruling"),
    [
        (pb.VERDICT_NOT_VISIBLE, Ruling.OMIT),
        (pb.VERDICT_STALE, Ruling.WITHHOLD_STALE),
        (pb.VERDICT_AHEAD, Ruling.WITHHOLD_AHEAD),
        (pb.VERDICT_UNKNOWN, Ruling.WITHHOLD_NO_ANSWER),
    ],
)
async def test_one_root_that_may_not_be_spoken_is_enough(house, ann, claim, verdict: int, ruling: Ruling) -> None:
    """Among others of its own sibling, of another and of ours; what the answer calls for is ordered.

    Broken to see it red: orders for sibling claims alone.
    """
    answering(house, "docs", {"2": verdict})
    made = DerivedClaim((claim("docs", "1"), claim("docs", "2"), claim("sheets", "1"), CURRENT))
    assert await house.bench.rule(ann, [made, claim("docs", "1")]) == [ruling, Ruling.SPEAK]
    ordered = [(order.kind, order.app, order.item_id) for order in await house.orders.open()]
    assert ordered == {
        Ruling.WITHHOLD_STALE: [(OrderKind.REFETCH, "docs", "2")],
        Ruling.WITHHOLD_AHEAD: [(OrderKind.REANNOUNCE, "docs", "")],
    }.get(ruling, [])


async def test_a_document_of_ours_counts_at_the_revision_it_was_used_at(house, ann, claim) -> None:
    """Superseded: made anew, which is said; deleted: nothing is said. Nothing is ordered of a sibling for it (step 3).

    Broken to see it red: the revision not compared; superseded taken for deleted.
    """
    for root, ruling in (
        (CURRENT, Ruling.SPEAK),
        (SUPERSEDED, Ruling.WITHHOLD_STALE),
        (DELETED, Ruling.OMIT),
    ):
        assert await house.bench.rule(ann, [DerivedClaim((claim(), root))]) == [ruling]
    assert await house.orders.open() == []


async def test_what_no_root_is_known_of_is_a_defect(house, ann, claim, monkeypatch) -> None:
    """No roots at all, or one without an owner: withheld, and the log says that there is a defect and nothing of it.

    Broken to see it red: no roots taken for no objection; an ownerless root left out.
    """
    logged: list[tuple[str, dict[str, Any]]] = []
    logger = SimpleNamespace(error=lambda event, **fields: logged.append((event, fields)))
    monkeypatch.setattr(log, "get_logger", lambda: logger)
    for made in (DerivedClaim(()), DerivedClaim((claim(), OwnerlessClaim())), OwnerlessClaim()):
        logged.clear()
        assert await house.bench.rule(ann, [made]) == [Ruling.WITHHOLD_NO_ANSWER]
        ((event, fields),) = logged
        assert event.startswith("a defect: ")
        assert fields == {}


async def test_roots_have_a_bound(house, ann, claim) -> None:
    """1,024 in a request, over all its claims; beyond, nothing is asked."""
    many = DerivedClaim(tuple(claim(item=str(number)) for number in range(MAX_CLAIMS // 2)))
    assert await house.bench.rule(ann, [many, many]) == [Ruling.SPEAK] * 2
    for sibling in house.siblings.values():
        sibling.asked.clear()
    with pytest.raises(ServiceError) as refused:
        await house.bench.rule(ann, [many, many, DerivedClaim((claim(),))])
    assert refused.value.kind is Kind.INVALID
    assert house.siblings["docs"].asked == []


@given(st.lists(st.sampled_from(list(Ruling)), min_size=1))
def test_together_is_a_conjunction_and_silence_goes_first(rulings: list[Ruling]) -> None:
    """Spoken if all are; silent if one must be; else one of the reasons that there are, in whichever order they came.

    Broken to see it red: STALE before OMIT, with which a notice tells that something hidden was used; STALE before
    AHEAD.
    """
    found = together(rulings)
    assert (found is Ruling.SPEAK) == (set(rulings) == {Ruling.SPEAK})
    assert (found is Ruling.OMIT) == (Ruling.OMIT in rulings)
    assert found in rulings
    assert found is together(rulings[::-1])
    # What has the most to be done comes first of those that are told: a restore before an edit.
    told = [
        each for each in (Ruling.WITHHOLD_NO_ANSWER, Ruling.WITHHOLD_AHEAD, Ruling.WITHHOLD_STALE) if each in rulings
    ]
    assert found in {Ruling.SPEAK, Ruling.OMIT} or found is told[0]


ROOTS = st.sampled_from(
    [
        gate_pb2.Root(sibling=gate_pb2.SiblingClaim(app="docs", item_id="1", revision="7")),
        gate_pb2.Root(owned=gate_pb2.OwnedRoot(document_id="d", recorded_revision="1", held_revision="1")),
        gate_pb2.Root(owned=gate_pb2.OwnedRoot(document_id="d", recorded_revision="1")),
        gate_pb2.Root(),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(ROOTS, max_size=5))
async def test_on_the_wire_every_root_stays_one(house, ann, roots: list[gate_pb2.Root]) -> None:
    """None is lost and none made up, so that a root which cannot be read still withholds.

    Broken to see it red: a root without an owner left out by the decoder.
    """
    (made,) = claims_from([gate_pb2.Claim(derived=gate_pb2.DerivedClaim(roots=roots))])
    assert isinstance(made, DerivedClaim)
    assert len(made.roots) == len(roots)
    (ruling,) = await house.bench.rule(ann, [made])
    good = [root.HasField("sibling") or bool(root.owned.held_revision) for root in roots]
    assert (ruling is Ruling.SPEAK) == (bool(roots) and all(good))
