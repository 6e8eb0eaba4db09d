"""Whether an app has shown that it keeps to the contract where a person's rights hang on it (CON-06, CON-07).

What is read is the report that `memoria-conformance --json` wrote of a run against the app.
"""

import json
from collections.abc import Sequence
from typing import Any

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.settings import Sibling
from memoria_contract.types import Pair, Subject, Verdict

SCHEMA = 1
FIXTURES = ("S2-02", "S2-03", "S2-04", "S2-05", "S2-08", "S2-14")
"""The cases in which the six kinds of hidden item must be one answer, before, while and after an item is narrowed."""
_MAX_BYTES = 64 * 1024 * 1024  # a failed run quotes every exchange


class UnprovedAsker:
    """Stands for an app that is not asked: nothing is dialled, and everything of it is withheld, loudly."""

    async def ask(self, subject: Subject, pairs: Sequence[Pair]) -> dict[Pair, Verdict]:
        """UNKNOWN for every pair."""
        return dict.fromkeys(pairs, Verdict.UNKNOWN)


def proved(sibling: Sibling, zone: str) -> bool:
    """Whether an app may be asked about people. Without a report that shows it, only in the zone localhost.

    There an app is being built, or belongs to the demo; a report that is given counts there as well.
    """
    if sibling.report_file is None:
        return zone == "localhost"
    try:
        if sibling.report_file.stat().st_size > _MAX_BYTES:
            return False
        check(json.loads(sibling.report_file.read_bytes()), sibling.app)
    except (OSError, ValueError, RecursionError, ServiceError):
        return False
    return True


def check(report: Any, app: str) -> None:
    """Return if a report shows that an app passed. Raises PRECONDITION.

    Every MUST case of S2 that was counted has passed, and the fixtures were among those that ran: a run of other cases
    alone shows nothing. A case that does not apply to the app, such as one on grants where there are none, is skipped.
    """
    try:
        binding = [case for case in report["results"] if case["call"] == "S2" and case["level"] == "MUST"]
        cases = {case["id"]: case for case in binding}
        stands = report["schema"] == SCHEMA and report["app"] == app
        held = all(case["status"] == "pass" or _does_not_apply(case) for case in binding)
        shown = cases[FIXTURES[0]]["status"] == "pass" and set(FIXTURES) <= set(cases)
    except (KeyError, TypeError):
        raise ServiceError(Kind.PRECONDITION, "this is no report of the conformance suite") from None
    if not (stands and held and shown):
        raise ServiceError(Kind.PRECONDITION, "the report does not show that the app passed")


def _does_not_apply(case: Any) -> bool:
    return case["status"] == "skip" and case["unshown"] is False
