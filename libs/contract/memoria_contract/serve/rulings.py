"""The one order in which S2 asks its questions; any other order gives something away."""

from collections.abc import Container

from memoria_contract.types import Verdict


def rule(*, on_team_rung: bool, may_read: bool, current: str, log: Container[str], asked: str) -> Verdict:
    """The verdict on one item that you have a row for, at the revision `asked` (CON-05, CON-06).

    `on_team_rung` is custody, and comes first: what is granted, shared by link, private or gone is NOT_VISIBLE even to
    a person who may open it in your app. `may_read` is whether this person may read it now. Only then is the revision
    looked at: `current` is the one the item is at, `log` holds those it ever was at. An item without a row is
    NOT_VISIBLE, which is `rule(on_team_rung=False, …)` or the value itself.
    """
    if not on_team_rung or not may_read:
        return Verdict.NOT_VISIBLE
    if asked == current:
        return Verdict.VISIBLE
    return Verdict.STALE if asked in log else Verdict.AHEAD
