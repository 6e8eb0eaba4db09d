"""What a run makes of a sibling: declared or not, with a hook or without, right or wrong, and what it leaves behind."""

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import free_port
from hypothesis import given, settings
from hypothesis import strategies as st
from kit_harness import ASK, PULL, STATE, empty_sibling, hook_of, mutant, run, target_of

from memoria.sibling.v1 import sibling_pb2
from memoria_conformance.consumers import Consumer
from memoria_conformance.kit import Exit, Level, Runner, Status, Target, Unreachable, matching, packaged_cases
from memoria_conformance.kit.hook_client import FileHook, UrlHook
from memoria_conformance.kit.render.json import render_json
from memoria_conformance.kit.render.table import render_table
from memoria_conformance.kit.transcript import _quoted
from memoria_conformance.kit.verdict import exit_code, last_line
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.rulings import Rulings
from memoria_conformance.server import SiblingServer
from memoria_conformance.sibling import Sibling, make_sibling
from memoria_contract.types import Subject, SubjectKind


def outcome(target: Target, case: str) -> tuple[Status, str]:
    """Status and message of one case."""
    (result,) = run(target, case).results
    return result.status, result.message


@pytest.mark.slow
def test_a_conforming_sibling_is_conformant(target: Target) -> None:
    """Every case passes; only half a request cannot be sent in process."""
    report = run(target)
    assert {r.id: r.message for r in report.results if r.status is not Status.PASS} == {
        "T-13": "the sibling is called in process, not over a network",
        "S2-28": "the sibling keys on one subject kind",
    }
    assert last_line(report) == "conformant: Describe transport S1 S1a S2 S3 S6"
    assert exit_code(report) is Exit.CONFORMANT


@pytest.mark.slow
@pytest.mark.parametrize("style", ["counter", "hash", "ulid"])
def test_revisions_of_any_kind_conform(style: str) -> None:
    """Counters, hashes and ULIDs (CON-04)."""
    report = run(target_of(empty_sibling("docs", revisions=style)))
    assert last_line(report) == "conformant: Describe transport S1 S1a S2 S3 · absent: S6"


class _PersonRefsForAll(Rulings):
    """Any person_ref is a member; addresses are looked up."""

    def _person(self, subject: Subject) -> str | None:
        return super()._person(subject) or ("anybody" if subject.kind is SubjectKind.PERSON_REF else None)


@pytest.mark.slow
def test_a_sibling_of_both_kinds_is_asked_under_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same person under either; a fault under the second kind alone is found by S2-28, which no mutant of
    one kind can show."""
    both = (SubjectKind.ADDRESS, SubjectKind.PERSON_REF)
    report = run(target_of(empty_sibling(subject_kinds=both)))
    assert last_line(report) == "conformant: Describe transport S1 S1a S2 S3 S6"
    assert {r.id for r in report.results if r.status is Status.SKIP} == {"T-13", "S2-16", "S2-17", "S2-29", "S6-15"}
    monkeypatch.setattr("memoria_conformance.sibling.Rulings", _PersonRefsForAll)
    report = run(target_of(empty_sibling(subject_kinds=both)))
    assert [r.id for r in report.results if r.status is Status.FAIL] == ["S2-28"]


class _OnlyS2(SiblingServer):
    async def describe(self, request: sibling_pb2.DescribeRequest, caller: Consumer) -> sibling_pb2.DescribeResponse:
        reply = await super().describe(request, caller)
        return sibling_pb2.DescribeResponse(app="rights", calls=[3], subject_kinds=reply.subject_kinds)


def test_a_sibling_of_one_call_is_asked_about_that_one() -> None:
    """What Describe does not declare is not held against it, in the transport cases either."""
    report = run(Mutant("only-s2", "It answers about people and holds nothing.", server=_OnlyS2).target())
    assert last_line(report) == "conformant: Describe transport S2 · absent: S1 S1a S3 S6"


def test_nobody_listening_is_not_a_verdict() -> None:
    """A dead port is a wrong call of the command, not a failing sibling."""
    with pytest.raises(Unreachable):
        run(Target.network(f"http://localhost:{free_port()}", pull_token=PULL, ask_token=ASK))


def test_an_undeclared_call_is_skipped_and_absent() -> None:
    """A docs app serves no S6: its cases say so and count against nobody."""
    report = run(target_of(empty_sibling("docs")), "S6-*", "S2-01")
    skipped = [r for r in report.results if r.call == "S6"]
    assert skipped
    assert {(r.status, r.message, r.unshown) for r in skipped} == {(Status.SKIP, "Describe does not declare S6", False)}
    assert exit_code(report) is Exit.CONFORMANT


def test_a_declared_call_that_fails_fails() -> None:
    """Declared and broken is not skipped: said wrong, with the step, the rule and the exchange."""
    report = run(mutant("constant-visible"), "S2-04")
    (result,) = report.results
    assert (result.status, result.level) == (Status.FAIL, Level.MUST)
    assert re.fullmatch(r"asker.ben, doc.narrow \(\w+\): expected NOT_VISIBLE, got VISIBLE", result.message)
    assert result.step == "step 3 of 8, ask: before the feed has told that it is gone"
    assert "VERDICT_VISIBLE" in result.exchanges[-1].reply_body
    assert any(e.request_line == "state hook: move_rung item=doc.narrow rung=granted" for e in result.exchanges)
    assert exit_code(report) is Exit.NOT_CONFORMANT


def test_a_broken_describe_does_not_hide_the_rest() -> None:
    """Without Describe the four usual calls are taken as declared, and the report says so."""
    report = run(mutant("no-json"), "D-01", "S2-01")
    assert [r.status for r in report.results] == [Status.FAIL, Status.FAIL]
    assert "taken as declared" in report.notes[0]


def test_without_a_hook_what_needs_one_is_not_shown(sheets: Sibling) -> None:
    """Skipped with its reason, and conformance not claimed."""
    bare = Target.asgi(sheets, pull_token=PULL, ask_token=ASK, origin=sheets.server.base_url)
    report = run(bare, "T-01", "S2-01")
    assert [(r.id, r.status, r.unshown) for r in report.results] == [
        ("T-01", Status.PASS, False),
        ("S2-01", Status.SKIP, True),
    ]
    assert "needs a state hook" in report.results[1].message
    assert exit_code(report) is Exit.NOT_CONFORMANT
    assert exit_code(report, allow_skipped=True) is Exit.CONFORMANT


def test_a_state_file_can_be_asked_and_not_changed(sheets: Sibling, tmp_path: Path) -> None:
    """Cases that only look run; cases that must change state, or need a larger world, are skipped with that reason."""
    from memoria_conformance.kit.model import world_params

    answer = sheets.state.apply("load_world", world_params("fixed", sheets=True))
    (tmp_path / "state.json").write_text(json.dumps(answer))
    plain = target_of(sheets)
    target = Target(plain.channel, PULL, ASK, FileHook(tmp_path / "state.json"))
    cases = matching(packaged_cases(), ids=["S2-01", "S2-04", "S1a-03", "S3-01"])
    report = asyncio.run(Runner(target, "fixed").run(cases))
    told = {r.id: (r.status, r.message) for r in report.results}
    assert told["S2-01"] == told["S3-01"] == (Status.PASS, "")
    assert told["S2-04"] == (Status.SKIP, "a state file cannot change anything")
    assert told["S1a-03"][0] is Status.SKIP
    assert all(r.unshown for r in report.results if r.status is Status.SKIP)


def without(sibling: Sibling, verb: str, error: Exception) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The sibling's hook, except for one verb."""

    def state(request: dict[str, Any]) -> dict[str, Any]:
        if request["state"] == verb:
            raise error
        return hook_of(sibling)(request)

    return state


def test_a_verb_that_the_hook_does_not_have_is_a_skip(sheets: Sibling) -> None:
    """The hook says so; nothing is claimed about the rule."""
    target = target_of(sheets, without(sheets, "partial_restore", NotImplementedError()))
    (result,) = run(target, "S2-12").results
    assert (result.status, result.unshown) == (Status.SKIP, True)
    assert result.message == "the state hook does not do partial_restore"


def test_a_hook_that_breaks_ends_the_run(sheets: Sibling) -> None:
    """Exit 3: what needs the hook is not run any more, what does not goes on. Broken to see red: a FAIL instead."""
    target = target_of(sheets, without(sheets, "move_rung", RuntimeError("secret detail")))
    report = run(target, "S2-01", "S2-04", "S2-06", "S3-01")
    assert [(r.id, r.status) for r in report.results] == [
        ("S2-01", Status.PASS),
        ("S2-04", Status.ERROR),
        ("S2-06", Status.SKIP),
        ("S3-01", Status.SKIP),
    ]
    assert "secret" not in report.results[1].message
    assert exit_code(report) is Exit.HARNESS


def test_an_item_the_sibling_cannot_hold_skips_its_cases(sheets: Sibling) -> None:
    """The hook left it out of its aliases."""

    def state(request: dict[str, Any]) -> dict[str, Any]:
        answer = hook_of(sheets)(request)
        if "aliases" in answer:
            del answer["aliases"]["doc.barred"]
        return answer

    (result,) = run(target_of(sheets, state), "S2-06").results
    assert (result.status, result.message) == (Status.SKIP, "the state hook gave no id for doc.barred")


@pytest.mark.slow
def test_revisions_the_hook_does_not_tell_are_read_from_the_sibling(sheets: Sibling) -> None:
    """By S1a, S3 or S1: the same verdict on everything."""

    def state(request: dict[str, Any]) -> dict[str, Any]:
        answer = hook_of(sheets)(request)
        return {key: value for key, value in answer.items() if key not in ("revisions", "revision")}

    report = run(target_of(sheets, state))
    assert last_line(report) == "conformant: Describe transport S1 S1a S2 S3 S6"


def test_a_run_leaves_nothing_and_touches_nothing_else() -> None:
    """The demo's own items stand as before, no item of the suite stays, and no token of the suite works any more.
    Broken to see red: the teardown at the end; the withdrawal of tokens."""
    sibling = make_sibling("docs", pull_tokens=[PULL], ask_tokens=[ASK])
    tables = ("items", "people", "grants", "removed", "tokens")
    before = {table: sorted(sibling.store.query(f"select * from {table}")) for table in tables}
    assert before["items"]
    report = run(target_of(sibling), "S1-1*", "S2-04", "S1a-07", "T-2*")
    assert exit_code(report) is Exit.CONFORMANT
    assert {table: sorted(sibling.store.query(f"select * from {table}")) for table in tables} == before


@pytest.mark.slow
def test_no_token_is_in_any_report() -> None:
    """Not in a message, a header, a body, a curl; short ones as people have at home included. Broken to see red: the
    redaction of headers; of bodies; of the tokens that a case makes."""
    for name in ("never-retires", "scopes-ignored", "title-in-rows", "errors-with-200"):
        target = mutant(name)
        report = run(target, "T-*", "S1-16", "S2-01")
        assert any(result.exchanges for result in report.results)
        for text in (render_json(report), render_table(report)):
            assert "pull-token" not in text
            assert "ask-token" not in text
        assert "Bearer $MEMORIA_" in render_json(report)
    report = run(mutant("never-retires"), "T-21")
    sent = [exchange.request_body for exchange in report.results[0].exchanges]
    assert any('"token": "$MEMORIA_ROTATED1_TOKEN"' in body for body in sent)


def test_a_short_token_is_hidden_without_spoiling_words() -> None:
    """`at` is a token at home and a part of `application`."""
    from memoria_conformance.kit.transcript import Redactor

    redactor = Redactor()
    redactor.hide("at", "MEMORIA_ASK_TOKEN")
    text = redactor.clean('Authorization: Bearer at; application/json {"token": "at"}')
    assert text == 'Authorization: Bearer $MEMORIA_ASK_TOKEN; application/json {"token": "$MEMORIA_ASK_TOKEN"}'


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")))
def test_a_pasted_curl_runs_nothing_but_curl(text: str) -> None:
    """What a sibling or its hook named comes back in a later request, and so in the line. Broken to see red: double
    quotes around the whole, which leave `$(…)` alive."""
    words = f"Bearer $MEMORIA_PULL_TOKEN {text} $(touch owned) `touch owned` $HOME 'x' \"y\""
    ended = subprocess.run(
        ["bash", "-c", f"printf %s {_quoted(words)}"],
        env={"MEMORIA_PULL_TOKEN": "the-token", "HOME": "home"},
        capture_output=True,
    )
    assert ended.stdout.decode() == words.replace("$MEMORIA_PULL_TOKEN", "the-token")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_shows_the_failure_again(url: str) -> None:
    """Run as printed, with the tokens in the environment, it brings the reply that was reported."""
    hook = UrlHook(f"{url}/__state", STATE)
    fault = {"kind": "all_visible", "call": "Authorize"}

    async def go() -> Any:
        await hook.ask("fault", fault)
        target = Target.network(url, pull_token=PULL, ask_token=ASK, hook=hook)
        return await Runner(target).run(matching(packaged_cases(), ids=["S2-15"]))

    try:
        (result,) = asyncio.run(go()).results
        assert result.status is Status.FAIL
        shown = result.exchanges[-1]
        ended = subprocess.run(
            ["bash", "-c", shown.curl],
            env={"MEMORIA_PULL_TOKEN": PULL, "MEMORIA_ASK_TOKEN": ASK, "PATH": "/usr/bin:/bin"},
            capture_output=True,
        )
        assert ended.stdout.rpartition(b"\r\n\r\n")[2].decode() == shown.reply_body
    finally:
        asyncio.run(UrlHook(f"{url}/__state", STATE).ask("fault", {"kind": "none"}))


@pytest.mark.parametrize("value", ["p-ann", "Ann@example.test", ""])
def test_a_person_who_is_not_what_describe_says_is_a_broken_hook(sheets: Sibling, value: str) -> None:
    """People known by address must come as addresses: an app that declares one and maps to the other would be green
    here and match nobody at a customer's."""

    def state(request: dict[str, Any]) -> dict[str, Any]:
        answer = hook_of(sheets)(request)
        if "aliases" in answer:
            answer["aliases"]["asker.ann"] = value
        return answer

    report = run(target_of(sheets, state), "S2-01")
    assert exit_code(report) is Exit.HARNESS
    assert "known by address" in report.results[0].message
