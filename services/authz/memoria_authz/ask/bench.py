"""The bench of arbiters: takes claims, asks every owner at once, returns one ruling a claim, in order."""

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, assert_never

from memoria_authz.admission import Admission
from memoria_authz.anomaly.counters import Counters
from memoria_authz.claims import (
    Claim,
    DerivedClaim,
    OwnedClaim,
    OwnedRoot,
    OwnerlessClaim,
    ProbeClaim,
    Ruling,
    SiblingClaim,
)
from memoria_authz.orders import WorkOrders
from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair, Revision, Subject, Verdict

MAX_CLAIMS = 1024
"""The bound on paging (AMD-05) is also the most that one request rules on."""


class Asker(Protocol):
    """Something that answers for one sibling. Total: one verdict a pair, and no exception."""

    async def ask(self, subject: Subject, pairs: Sequence[Pair]) -> dict[Pair, Verdict]:
        """A verdict for every pair."""
        ...


class Bench:
    """Rules on claims for one person at a time. Holds who to ask, never what they said."""

    def __init__(
        self, admission: Admission, askers: Mapping[str, Asker], orders: WorkOrders, counters: Counters
    ) -> None:
        self._admission = admission
        self._askers = dict(askers)
        self._orders = orders
        self._counters = counters

    async def rule(self, subject: Subject, claims: Sequence[Claim]) -> list[Ruling]:
        """One ruling a claim, in order.

        1. The asker has standing, or nothing is ruled at all (raises REFUSED). Where it cannot be told who is on the
           team, no sibling is asked anything and all is withheld, loudly (AUT-17).
        2. The siblings' pairs are gathered, each pair once, and all siblings asked at the same time: every one of them,
           every time. Asking only those that own a candidate would let the time taken tell which hidden words match.
        3. Every claim is ruled from its own owner's answer; an artefact from those of everything it was made from.
        4. What STALE and AHEAD call for is written down before the answer leaves; the rest is only counted.
        """
        if len(claims) > MAX_CLAIMS:
            raise ServiceError(Kind.INVALID, f"more than {MAX_CLAIMS} claims in one request")
        if sum(len(claim.roots) for claim in claims if isinstance(claim, DerivedClaim)) > MAX_CLAIMS:
            raise ServiceError(Kind.INVALID, f"more than {MAX_CLAIMS} roots in one request")
        await self._admission.refresh()  # 1
        self._admission.standing_of(subject)
        if not self._admission.answers:
            return [Ruling.WITHHOLD_NO_ANSWER] * len(claims)
        wanted: dict[str, dict[Pair, None]] = {app: {} for app in self._askers}
        wanted |= {claim.app: {} for claim in claims if isinstance(claim, ProbeClaim)}
        for claim in claims:  # 2
            for root in claim.roots if isinstance(claim, DerivedClaim) else [claim]:
                if isinstance(root, SiblingClaim):
                    wanted.setdefault(root.app, {})[root.pair] = None
        probed = {claim.app for claim in claims if isinstance(claim, ProbeClaim)}
        # Of every app that owns nothing here, and of one whose answer must be seen whatever it owns.
        decoys = {app: decoy() for app, pairs in wanted.items() if not pairs or app in probed}
        asked = {app: [*pairs, *([decoys[app]] if app in decoys else [])] for app, pairs in wanted.items()}
        answers = await asyncio.gather(*(self._ask(app, subject, pairs) for app, pairs in asked.items()))
        said = dict(zip(asked, answers, strict=True))
        rulings = [self._rule_one(claim, said, decoys) for claim in claims]  # 3
        verdicts = [
            (app, pair, said[app].get(pair, Verdict.UNKNOWN)) for app, pairs in wanted.items() for pair in pairs
        ]
        await self._orders.record(  # 4
            refetch={(app, pair.item_id) for app, pair, verdict in verdicts if verdict is Verdict.STALE},
            reannounce={app for app, _, verdict in verdicts if verdict is Verdict.AHEAD},
        )
        self._count(subject, wanted, said)
        return rulings

    def _count(
        self, subject: Subject, wanted: Mapping[str, Iterable[Pair]], said: Mapping[str, Mapping[Pair, Verdict]]
    ) -> None:
        """What was answered of claims; what was said to a decoy was said of nothing."""
        for app, pairs in wanted.items():
            verdicts = [said[app].get(pair, Verdict.UNKNOWN) for pair in pairs]
            self._counters.answered(app, subject, verdicts)
            if Verdict.AHEAD in verdicts:
                self._counters.restored(app)

    async def _ask(self, app: str, subject: Subject, pairs: list[Pair]) -> dict[Pair, Verdict]:
        asker = self._askers.get(app)
        if asker is None:  # content of an app that is not configured any more: nobody can answer for it
            return dict.fromkeys(pairs, Verdict.UNKNOWN)
        return await asker.ask(subject, pairs)

    @classmethod
    def _rule_one(
        cls, claim: Claim | OwnedRoot, said: Mapping[str, Mapping[Pair, Verdict]], decoys: Mapping[str, Pair]
    ) -> Ruling:
        match claim:
            case SiblingClaim(app, pair):
                return ruling_for(said[app].get(pair, Verdict.UNKNOWN))
            case OwnerlessClaim() | DerivedClaim(()):
                log.get_logger().error(
                    "a defect: what would be spoken has no owner, or was made from nothing that is known"
                )
                return Ruling.WITHHOLD_NO_ANSWER
            case DerivedClaim(roots):
                return together([cls._rule_one(root, said, decoys) for root in roots])
            case OwnedRoot(_, recorded, held):
                # Superseded is no denial: what was made from it is made anew (ING-20, step 3).
                return Ruling.OMIT if held is None else Ruling.SPEAK if held == recorded else Ruling.WITHHOLD_STALE
            case ProbeClaim(app):
                answered = said[app].get(decoys[app], Verdict.UNKNOWN) is not Verdict.UNKNOWN
                return Ruling.OMIT if answered else Ruling.WITHHOLD_NO_ANSWER
            case OwnedClaim(_, present):
                # The first fact, admission, was established in step 1; a deleted document is like one never written.
                return Ruling.SPEAK if present else Ruling.OMIT
            case _:
                assert_never(claim)


_GRAVEST = (Ruling.OMIT, Ruling.WITHHOLD_NO_ANSWER, Ruling.WITHHOLD_AHEAD, Ruling.WITHHOLD_STALE)
"""A root that this person may not know of comes first: a notice for the sake of another would tell that it exists."""


def together(rulings: Sequence[Ruling]) -> Ruling:
    """The ruling on what was made from all of these: spoken if every one may be (ING-20, step 4)."""
    return next((grave for grave in _GRAVEST if grave in rulings), Ruling.SPEAK)


def decoy() -> Pair:
    """A pair that no sibling has; the answer to it is thrown away."""
    return Pair(ItemId(secrets.token_urlsafe(12)), Revision(secrets.token_urlsafe(8)))


def ruling_for(verdict: Verdict) -> Ruling:
    """The table of chapter 3 (AUT-01)."""
    match verdict:
        case Verdict.VISIBLE:
            return Ruling.SPEAK
        case Verdict.NOT_VISIBLE:
            return Ruling.OMIT
        case Verdict.STALE:
            return Ruling.WITHHOLD_STALE
        case Verdict.AHEAD:
            return Ruling.WITHHOLD_AHEAD
        case Verdict.UNKNOWN:
            return Ruling.WITHHOLD_NO_ANSWER
        case _:
            assert_never(verdict)
