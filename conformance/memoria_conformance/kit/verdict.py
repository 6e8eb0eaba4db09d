"""The verdict: how each call stands, the last line of a run and its exit code, all from MUST cases alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from memoria_conformance.kit.report import CALLS, CaseResult, Exit, Level, Report, Status


class State(StrEnum):
    """How one call stands; the value is the section of the last line it appears in."""

    CONFORMANT = "conformant"
    PARTIAL = "partial"
    NOT_SHOWN = "not shown"  # there are cases, but none of them counted: nothing is claimed about the call
    ABSENT = "absent"  # Describe does not declare it


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """How one call stands: `passed` of `counted` MUST cases."""

    call: str
    state: State
    passed: int
    counted: int

    @property
    def words(self) -> str:
        """The call as the last line names it: with its count where that says more than the section does."""
        if self.state is State.PARTIAL:
            return f"{self.call} ({self.passed}/{self.counted})"
        return self.call


def counts(result: CaseResult) -> bool:
    """Whether a case is one of the m in n/m: a MUST that was tried, or that applies and could not be."""
    return result.level is Level.MUST and (result.status is not Status.SKIP or result.unshown)


def call_verdicts(report: Report) -> tuple[CallVerdict, ...]:
    """Every call with a case or declared absent, in the order they are reported. KNOWN and STALE have not passed."""
    named = dict.fromkeys((*CALLS, *(result.call for result in report.results), *report.absent))
    return tuple(
        _verdict_of(call, report) for call in named if call in report.absent or any(True for _ in report.of(call))
    )


def _verdict_of(call: str, report: Report) -> CallVerdict:
    counted = [result for result in report.of(call) if counts(result)]
    passed = sum(result.status is Status.PASS for result in counted)
    if call in report.absent and passed == len(counted):  # an undeclared call that breaks a rule all the same is shown
        state = State.ABSENT
    elif not counted:
        state = State.NOT_SHOWN
    elif passed == len(counted):
        state = State.CONFORMANT
    else:
        state = State.PARTIAL  # also of 0/m, which says it all
    return CallVerdict(call, state, passed, len(counted))


def last_line(report: Report) -> str:
    """`conformant: S1 S1a S3 · partial: S2 (17/19) · absent: S6`; a section without calls is left out."""
    verdicts = call_verdicts(report)
    sections = (
        f"{state}: {' '.join(verdict.words for verdict in verdicts if verdict.state is state)}"
        for state in State
        if any(verdict.state is state for verdict in verdicts)
    )
    line = " · ".join(sections) or "no case ran"
    return f"{line} · not run: {report.left_out} cases" if report.left_out else line


class Standing(StrEnum):
    """What a run says about the sibling as a whole; no option changes it."""

    CONFORMANT = "conformant"
    PARTLY = "partly conformant"  # nothing failed that was not agreed to, and not everything was shown
    NOT = "not conformant"
    NOTHING = "nothing ran"
    BROKEN = "the run broke"


def standing(report: Report) -> Standing:
    """The word for the whole run. Conformant is only a sibling of which every MUST case that applies has passed."""
    match exit_code(report, allow_skipped=True):
        case Exit.HARNESS:
            return Standing.BROKEN
        case Exit.USAGE:
            return Standing.NOTHING
        case Exit.NOT_CONFORMANT:
            return Standing.NOT
    known = any(result.status is Status.KNOWN and result.level is Level.MUST for result in report.results)
    return Standing.PARTLY if known or report.left_out or any(not_shown(report)) else Standing.CONFORMANT


def exit_code(report: Report, *, allow_skipped: bool = False) -> Exit:
    """What the command ends with. The first that fits: HARNESS, USAGE, NOT_CONFORMANT, CONFORMANT.

    A failed SHOULD or MAY is a warning, and a KNOWN failure was agreed to: neither fails a run. A STALE one does
    whatever its level, for it says that the known-failure file is wrong. `allow_skipped` forgives what was not shown.
    """
    if report.broken or any(result.status is Status.ERROR for result in report.results):
        return Exit.HARNESS
    if all(result.status is Status.SKIP for result in report.results):  # or there are none
        return Exit.USAGE
    if any(_fails(result) for result in report.results):
        return Exit.NOT_CONFORMANT
    if not allow_skipped and any(not_shown(report)):
        return Exit.NOT_CONFORMANT
    return Exit.CONFORMANT


def _fails(result: CaseResult) -> bool:
    return result.status is Status.STALE or (result.status is Status.FAIL and result.level is Level.MUST)


def not_shown(report: Report) -> Iterator[str]:
    """Why conformance is not shown though nothing failed, a sentence each.

    A skip that is not `unshown` means that a rule does not apply to this app. One by one that is fine; but a call that
    is declared, and to which not a single MUST applies, is a call that nobody looked at, so green would be a claim
    without a witness. A call none of whose MUST cases was chosen to run is not held against anybody.
    """
    for result in report.results:
        if result.level is Level.MUST and result.status is Status.SKIP and result.unshown:
            yield f"{result.id} was not tried: {result.message}"
    for verdict in call_verdicts(report):
        if verdict.state is State.NOT_SHOWN and any(result.level is Level.MUST for result in report.of(verdict.call)):
            yield f"{verdict.call}: every case was skipped"
