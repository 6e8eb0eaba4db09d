"""The verdict of a run: what counts, what the last line says, which code the command ends with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria_conformance.kit.report import CALLS, CaseResult, Exit, Level, Report, Status
from memoria_conformance.kit.verdict import State, call_verdicts, exit_code, last_line, not_shown


def case(call: str = "S1", status: Status = Status.PASS, level: Level = Level.MUST, **more: Any) -> CaseResult:
    """One result."""
    return CaseResult("a-case", call, level, "feed", "A rule.", status, **more)


def report(*results: CaseResult, absent: tuple[str, ...] = ()) -> Report:
    """A run of these results."""
    return Report("docs", "http://demo.docs.localhost:1", results, absent)


UNSHOWN = case(status=Status.SKIP, unshown=True, message="the hook has no such verb")
SKIPPED = case(status=Status.SKIP)

CODES = {
    "an error, whatever else happened": (report(case(), case(status=Status.FAIL), case(status=Status.ERROR)), 3),
    "an error where nothing else ran": (report(SKIPPED, case(status=Status.ERROR)), 3),
    "an error of a MAY": (report(case(), case(status=Status.ERROR, level=Level.MAY)), 3),
    "no case at all": (report(), 2),
    "no case ran": (report(SKIPPED, UNSHOWN), 2),
    "no case ran and all is absent": (report(SKIPPED, absent=CALLS), 2),
    "a failed MUST": (report(case(), case(status=Status.FAIL)), 1),
    "a stale MUST": (report(case(), case(status=Status.STALE)), 1),
    "a stale SHOULD": (report(case(), case(status=Status.STALE, level=Level.SHOULD)), 1),
    "a MUST that was not shown": (report(case(), UNSHOWN), 1),
    "a call of which every MUST was skipped": (report(case(), case("S3", Status.SKIP)), 1),
    "a failed SHOULD": (report(case(), case(status=Status.FAIL, level=Level.SHOULD)), 0),
    "a failed MAY": (report(case(), case(status=Status.FAIL, level=Level.MAY)), 0),
    "a known failure": (report(case(), case(status=Status.KNOWN)), 0),
    "a SHOULD that was not shown": (report(case(), case(status=Status.SKIP, level=Level.SHOULD, unshown=True)), 0),
    "a MUST that does not apply": (report(case(), SKIPPED), 0),
    "an absent call whose cases were skipped": (report(case(), case("S6", Status.SKIP), absent=("S6",)), 0),
    "only a SHOULD was chosen": (report(case(level=Level.SHOULD)), 0),
    "all is well": (report(case(), case("S2")), 0),
}


@pytest.mark.parametrize(("run", "code"), CODES.values(), ids=CODES.keys())
def test_each_run_has_its_exit_code(run: Report, code: int) -> None:
    """Broken to see red: ERROR looked at last; `all` read as `any`; STALE of a SHOULD let through; the clause about
    calls of which every MUST was skipped taken out.
    """
    assert exit_code(run).value == code


def test_what_was_not_shown_can_be_allowed_and_nothing_else() -> None:
    """`allow_skipped` forgives skips, not failures, not a stale file and not a run of nothing."""
    for run, code in CODES.values():
        shown = not any(not_shown(run))
        failed = any(result.status in {Status.FAIL, Status.STALE} for result in run.results)
        assert exit_code(run, allow_skipped=True).value == (code if shown or failed or code != 1 else 0)
    assert exit_code(report(case(), UNSHOWN), allow_skipped=True) is Exit.CONFORMANT


def test_why_it_is_not_shown_is_said() -> None:
    """Each skipped MUST with its reason, and a call that nobody looked at by name."""
    run = report(case(), UNSHOWN, case("S3", Status.SKIP))
    assert list(not_shown(run)) == ["a-case was not tried: the hook has no such verb", "S3: every case was skipped"]


def test_the_last_line_is_the_one_of_the_documentation() -> None:
    """The form others parse, byte for byte.

    Broken to see red: a KNOWN counted as passed; an `unshown` skip not counted; SHOULD counted.
    """
    s2 = [case("S2")] * 17 + [case("S2", Status.KNOWN), case("S2", Status.SKIP, unshown=True)]
    run = report(
        *(case(call) for call in ("S3", "S1a", "S1")),
        *s2,
        case("S2", Status.SKIP),
        case("S2", Status.FAIL, Level.SHOULD),
        case("S6", Status.SKIP),
        absent=("S6",),
    )
    assert last_line(run) == "conformant: S1 S1a S3 · partial: S2 (17/19) · absent: S6"


def test_every_section_has_its_place() -> None:
    """The groups by their names, the failed with their counts, a call that nothing counts of as not shown."""
    run = report(
        case("transport"),
        case("Describe"),
        case("S1", Status.FAIL),
        case("S1", Status.STALE),
        case("S1a", Status.SKIP),
        case("S2"),
        case("S2", Status.FAIL),
        case("S3", level=Level.SHOULD),
        absent=("S6",),
    )
    assert last_line(run) == (
        "conformant: Describe transport · partial: S1 (0/2) S2 (1/2) · not shown: S1a S3 · absent: S6"
    )
    assert last_line(report()) == "no case ran"


def test_an_absent_call_that_breaks_a_rule_is_not_hidden_as_absent() -> None:
    """An undeclared call that is refused as it should be stays absent; one that is answered wrongly is failed."""
    assert last_line(report(case("S6"), absent=("S6",))) == "absent: S6"
    run = report(case("S6", Status.FAIL), absent=("S6",))
    assert (last_line(run), exit_code(run)) == ("partial: S6 (0/1)", Exit.NOT_CONFORMANT)


RESULTS = st.lists(
    st.builds(
        case,
        st.sampled_from(CALLS),
        st.sampled_from(Status),
        st.sampled_from(Level),
        unshown=st.booleans(),
    ),
    max_size=12,
).map(tuple)


@given(RESULTS, st.sets(st.sampled_from(CALLS)))
def test_green_is_never_said_of_what_did_not_pass(results: tuple[CaseResult, ...], absent: set[str]) -> None:
    """For any run: each call with results appears once; CONFORMANT has only passed MUSTs; exit 0 has no failed MUST."""
    run = report(*results, absent=tuple(absent))
    verdicts = call_verdicts(run)
    assert {verdict.call for verdict in verdicts} == {result.call for result in results} | absent
    assert len({verdict.call for verdict in verdicts}) == len(verdicts)
    for verdict in verdicts:
        assert 0 <= verdict.passed <= verdict.counted
        musts = [result for result in run.of(verdict.call) if result.level is Level.MUST]
        if verdict.state is State.CONFORMANT:
            assert any(result.status is Status.PASS for result in musts)
            assert all(result.status in {Status.PASS, Status.SKIP} for result in musts)
    if exit_code(run) is Exit.CONFORMANT:
        allowed = {Status.PASS, Status.SKIP, Status.KNOWN}
        assert all(result.status in allowed for result in results if result.level is Level.MUST)
        assert not any(result.status in {Status.ERROR, Status.STALE} for result in results)
