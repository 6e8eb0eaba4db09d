"""The known-failure file: what is refused in it, and what it turns a result into."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria_conformance.kit.known import KnownFailure, KnownFileError, apply_known, load_known
from memoria_conformance.kit.report import CaseResult, Level, Status

IDS = ("s1-page", "s2-private", "s3-absent")
DAY = date(2027, 3, 31)

REFUSED = {
    "not a list": ("case: s1-page", "the file is not a list of entries"),
    "a word": ("hello", "the file is not a list of entries"),
    "broken YAML": ("- {case: s1-page", "the file is not YAML: expected ',' or '}', but got '<stream end>' at line 1"),
    "a control character": ("- \x07", "the file is not YAML that can be read"),
    "nested without end": ("[" * 50_000, "the file is not YAML that can be read"),
    "a Python object": ("- !!python/object/apply:os.getcwd []", "entry 1 is not a mapping"),
    "an entry that holds itself": ("- &a [*a]", "the file is not YAML: found unconstructable"),
    "an entry that is a word": ("- s1-page", "entry 1 is not a mapping"),
    "no case": ("- {reason: slow}", "entry 1 names no case"),
    "an empty case": ("- {case: '', reason: slow}", "entry 1 names no case"),
    "a list of cases": ("- {case: [s1-page], reason: slow}", "entry 1 names no case"),
    "no reason": ("- {case: s1-page}", "entry 1 (s1-page) gives no reason"),
    "a blank reason": ("- {case: s1-page, reason: ' \t '}", "entry 1 (s1-page) gives no reason"),
    "nothing for a reason": ("- case: s1-page\n  reason:\n", "entry 1 (s1-page) gives no reason"),
    "null for a reason": ("- {case: s1-page, reason: null}", "entry 1 (s1-page) gives no reason"),
    "a mapping for a reason": ("- {case: s1-page, reason: {a: b}}", "entry 1 (s1-page) gives no reason"),
    "an unknown case": (
        "- {case: s1-page, reason: slow}\n- {case: s9, reason: slow}",
        "entry 2 (s9) names a case that the suite does not have",
    ),
    "a case twice": (
        "- {case: s1-page, reason: slow}\n- {case: s1-page, reason: slower}",
        "entry 2 (s1-page) is a second entry",
    ),
    "a key twice": ("- {case: s1-page, reason: slow, reason: fast}", "line 1 begins an entry that says reason twice"),
    "a mistyped field": ("- {case: s1-page, reason: slow, untill: 2027-01-01}", "entry 1 (s1-page) has a field untill"),
    "a field that is no word": ("- {case: s1-page, reason: slow, ? [a] : b}", "the file is not YAML: found unhashable"),
    "a day in words": ("- {case: s1-page, reason: slow, until: soon}", "entry 1 (s1-page) has an until that is not"),
    "a thirteenth month": ("- {case: s1-page, reason: slow, until: 2027-13-01}", "entry 1 (s1-page) has an until"),
    "a moment": ("- {case: s1-page, reason: slow, until: 2027-03-01T10:00:00Z}", "entry 1 (s1-page) has an until"),
    "a week": ("- {case: s1-page, reason: slow, until: 2027-W01-1}", "entry 1 (s1-page) has an until"),
    "no day": ("- {case: s1-page, reason: slow, until: }", "entry 1 (s1-page) has an until"),
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_a_file_that_is_not_quite_right_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    """A misread entry would silently accept a failure, so nothing is guessed.

    Broken to see red: SafeLoader in place of plain text; the check of a key given twice; unknown fields let through.
    """
    with pytest.raises(KnownFileError) as refused:
        load_known(text, IDS)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


@given(st.text(st.sampled_from("-:{}[]&*!|>'\"#%@`? \n\tcaseronutil~9\\,"), max_size=60))
def test_garbage_is_refused_or_read_and_never_anything_else(text: str) -> None:
    """No exception but the one, and nothing read that names a case the suite does not have."""
    try:
        entries = load_known(text, IDS)
    except KnownFileError as error:
        assert "\n" not in str(error)  # noqa: PT017 — not raised at all is as good
    else:
        assert all(entry.case in IDS and entry.reason.strip() for entry in entries)


def test_a_file_is_read() -> None:
    """Quoted or not, a day is a day; an empty file has no entries."""
    text = "# agreed with ops\n- case: s1-page\n  reason: >\n    Waits for\n    the new feed.\n  until: 2027-03-31\n"
    text += "- {case: s2-private, reason: 'yes', until: '2027-03-31'}\n- {case: s3-absent, reason: Ticket 9}\n"
    assert load_known(text, IDS) == (
        KnownFailure("s1-page", "Waits for the new feed", DAY),
        KnownFailure("s2-private", "yes", DAY),
        KnownFailure("s3-absent", "Ticket 9"),
    )
    assert load_known("", IDS) == load_known("# nothing yet\n", IDS) == load_known("[]", IDS) == ()


def case(status: Status, message: str = "", **more: Any) -> CaseResult:
    """A result of s1-page."""
    return CaseResult("s1-page", "S1", Level.MUST, "feed", "A rule.", status, message, **more)


KNOWN = (KnownFailure("s1-page", "Ticket 9", DAY),)


@pytest.mark.parametrize("status", [Status.SKIP, Status.ERROR])
def test_what_says_nothing_about_the_failure_stays_as_it_is(status: Status) -> None:
    """A skip and an error are no news of it, not even after its last day.

    Broken to see red: every status but PASS taken for the failure.
    """
    result = case(status, "why")
    assert apply_known([result], KNOWN, date(2030, 1, 1)) == (result,)


def test_an_unexpected_pass_is_stale() -> None:
    """The file is wrong, and says something that is no longer so. Broken to see red: PASS left alone."""
    (result,) = apply_known([case(Status.PASS)], KNOWN, DAY)
    assert result.status is Status.STALE
    assert "Ticket 9" in result.message


def test_a_failure_past_its_day_is_stale_with_both_texts() -> None:
    """The day itself still counts; the day after does not. Broken to see red: `>=`; the date not looked at."""
    failure = case(Status.FAIL, "expected 404, came 403", step="ask")
    (on_the_day,) = apply_known([failure], KNOWN, DAY)
    (after,) = apply_known([failure], KNOWN, date(2027, 4, 1))
    assert (on_the_day.status, after.status) == (Status.KNOWN, Status.STALE)
    for result in (on_the_day, after):
        assert "Ticket 9" in result.message
        assert "expected 404, came 403" in result.message
        assert result.step == "ask"
    assert "2027-03-31" in after.message


def test_a_known_failure_is_known_and_others_are_not() -> None:
    """Order kept, a case without an entry untouched; without `until` there is no last day; twice is as once."""
    other = CaseResult("s2-private", "S2", Level.MUST, "s2", "A rule.", Status.FAIL, "leaks")
    known = (KnownFailure("s1-page", "Ticket 9"), KnownFailure("s3-absent", "not run today"))
    once = apply_known([other, case(Status.FAIL, "cut")], known, date(2099, 1, 1))
    assert [result.status for result in once] == [Status.FAIL, Status.KNOWN]
    assert once[0] is other
    assert once[1].message == "known: Ticket 9\ncut"
    assert apply_known(once, known, date(2099, 1, 1)) == once
