"""What a ruling leaves in the counters, and what ingest and the owner's page say and hear of them."""

from collections.abc import Callable
from typing import Any, cast

import grpc
import pytest

from memoria.gate.v1 import gate_pb2 as pb
from memoria.sibling.v1 import sibling_pb2
from memoria_authz.anomaly.ledger import Ledger
from memoria_authz.anomaly.tally import Answers, Fetches, Tally
from memoria_authz.claims import OwnedClaim, ProbeClaim, Ruling, SiblingClaim
from memoria_chassis.aead import Sealer
from memoria_contract.types import Subject

from .conftest import House

CONTEXT = cast(grpc.aio.ServicerContext, None)


async def tally(house: House, app: str) -> Tally:
    """What is counted of one sibling."""
    await house.counters.findings()
    today = house.counters._today()
    return await house.database.read(lambda db: Ledger(db, Sealer(house.key)).tally(app, today))


async def answers(house: House, app: str) -> list[Answers]:
    """What is counted of one sibling today, an entry an asker."""
    return [each for day in (await tally(house, app)).answers.values() for each in day.values()]


async def test_only_visible_and_refused_are_counted_and_a_decoy_never(
    house: House, ann: Subject, claim: Callable[..., SiblingClaim]
) -> None:
    """No third counter (RET-09). A sibling that owned no candidate was asked about nothing, so its refusal of the decoy
    is none. Broken to see it red: every answer counted, the decoy's too; STALE counted as refused."""
    said = [
        sibling_pb2.VERDICT_VISIBLE,
        sibling_pb2.VERDICT_NOT_VISIBLE,
        sibling_pb2.VERDICT_STALE,
        sibling_pb2.VERDICT_AHEAD,
        sibling_pb2.VERDICT_UNKNOWN,
    ]

    def one_of_each(request: Any) -> sibling_pb2.AuthorizeResponse:
        rows = [
            sibling_pb2.ItemVerdict(item_id=item.item_id, revision=item.revision, verdict=said[int(item.item_id)])
            for item in request.items
        ]
        return sibling_pb2.AuthorizeResponse(verdicts=rows)

    house.siblings["docs"].say = one_of_each
    house.siblings["sheets"].verdict = sibling_pb2.VERDICT_NOT_VISIBLE
    await house.bench.rule(ann, [*(claim("docs", str(item)) for item in range(5)), OwnedClaim("d", True)])
    assert await answers(house, "docs") == [Answers(1, 1)]
    assert house.siblings["sheets"].asked
    assert await answers(house, "sheets") == []


@pytest.mark.parametrize("verdict", [v for v in sibling_pb2.Verdict.values() if v])
async def test_what_is_said_to_a_probe_counts_and_orders_nothing(
    house: House, ann: Subject, claim: Callable[..., SiblingClaim], verdict: int
) -> None:
    """A document page probes every app. Whatever one says to that, no reader was refused, nothing was restored, and no
    item is fetched that no feed named; only whether it answered is seen, beside a real item too (RET-09, RET-13).

    Broken to see it red, each in turn: the probe's answer counted; its order written; an answer taken for none.
    """
    house.siblings["docs"].say = house.siblings["sheets"].say = lambda request: sibling_pb2.AuthorizeResponse(
        verdicts=[
            sibling_pb2.ItemVerdict(
                item_id=each.item_id,
                revision=each.revision,
                verdict=sibling_pb2.VERDICT_VISIBLE if each.item_id == "1" else verdict,
            )
            for each in request.items
        ]
    )
    rulings = await house.bench.rule(ann, [claim("docs"), ProbeClaim("docs"), ProbeClaim("sheets"), ProbeClaim("gone")])
    answered = Ruling.WITHHOLD_NO_ANSWER if verdict == sibling_pb2.VERDICT_UNKNOWN else Ruling.OMIT
    assert rulings == [Ruling.SPEAK, answered, answered, Ruling.WITHHOLD_NO_ANSWER]
    assert await answers(house, "docs") == [Answers(1, 0)]
    assert await answers(house, "sheets") == []
    assert (await tally(house, "sheets")).restored_at == 0
    assert await house.orders.open() == []
    assert [len(asked.items) for asked in house.siblings["docs"].asked] == [2]


async def test_an_outage_counts_nothing(house: House, ann: Subject, claim: Callable[..., SiblingClaim]) -> None:
    """UNKNOWN leaves neither V nor N (RET-09)."""
    house.siblings["docs"].seconds = 60
    await house.bench.rule(ann, [claim("docs"), claim("sheets")])
    assert await answers(house, "docs") == []
    assert await answers(house, "sheets") == [Answers(1, 0)]


async def test_one_ahead_reaches_the_owner_and_nobody_else(
    house: House, ann: Subject, claim: Callable[..., SiblingClaim]
) -> None:
    """One answer fires the restore breaker of that sibling (RET-13)."""
    house.siblings["docs"].verdict = sibling_pb2.VERDICT_AHEAD
    await house.bench.rule(ann, [claim("docs"), claim("sheets")])
    reply = await house.server.ListFindings(pb.ListFindingsRequest(), CONTEXT)
    states = {each.app: each.restore.state for each in reply.siblings}
    assert states == {
        "calendar": pb.BREAKER_STATE_QUIET,
        "docs": pb.BREAKER_STATE_FIRED,
        "sheets": pb.BREAKER_STATE_QUIET,
    }


async def test_what_ingest_fetched_is_counted_and_an_unknown_app_is_not(house: House) -> None:
    """Counts add up over reports; an app that is not configured has none."""
    for _ in range(2):
        counts = [pb.FetchCount(app=app, fetched=1, not_found=3) for app in ("docs", "gone")]
        await house.server.ReportFetches(pb.ReportFetchesRequest(counts=counts, lineage="one"), CONTEXT)
    assert list((await tally(house, "docs")).fetches.values()) == [Fetches(2, 6)]
    assert (await tally(house, "gone")).fetches == {}
