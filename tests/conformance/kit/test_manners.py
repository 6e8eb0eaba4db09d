"""How a run behaves towards what is odd, legal or hostile: nothing held against the odd, nothing told of a secret."""

import asyncio
import base64
import json
from typing import Any

import pytest
from kit_harness import PULL, empty_sibling, hook_of, run, target_of

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.consumers import Consumer
from memoria_conformance.kit import Exit, Report, Runner, Status
from memoria_conformance.kit.http_client import Reply, Request
from memoria_conformance.kit.render.html import render_html
from memoria_conformance.kit.render.json import render_json
from memoria_conformance.kit.render.junit import render_junit
from memoria_conformance.kit.render.table import render_table
from memoria_conformance.kit.steps.ask import _spellings
from memoria_conformance.kit.transcript import Redactor, Transcript
from memoria_conformance.kit.verdict import exit_code, last_line
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.mutants.wrap import replies
from memoria_conformance.server import SiblingServer


def all_forms(report: Report) -> list[str]:
    """Every form of a report."""
    return [render_json(report), render_table(report), render_html(report), render_junit(report)]


class _Echoes(SiblingServer):
    async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
        right = await super().describe(request, caller)
        return pb.DescribeResponse(app="evil pull-token " * 500, calls=right.calls, subject_kinds=right.subject_kinds)

    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        return pb.AuthorizeResponse(verdicts=[pb.ItemVerdict(item_id="ask-token", revision="x" * 3990 + "ask-token")])


def test_an_app_that_echoes_tokens_gets_them_into_no_report() -> None:
    """Not as its name, not in a body, and not where a body is cut. Broken to see red: the name as it came; the body
    cut before it was cleaned."""
    report = run(Mutant("echoes", "It says what it was told.", server=_Echoes).target(), "S2-01", "S2-20", "D-01")
    assert any(result.status is Status.FAIL for result in report.results)
    for text in all_forms(report):
        assert "pull-token" not in text
        assert "ask-token" not in text
        assert "ask-to" not in text


def test_a_secret_is_taken_out_before_a_body_is_packed() -> None:
    """A body that is no text is shown in base64; a secret in it would only look hidden."""
    redactor = Redactor()
    redactor.hide(PULL, "MEMORIA_PULL_TOKEN")
    transcript = Transcript(redactor, "http://x.localhost")
    body = b"\xff\x01" + PULL.encode() + b"\xfe"
    transcript.http(Request("/x", (("Authorization", f"Bearer {PULL}"),), body), Reply(200, (("x", PULL),), body))
    (exchange,) = transcript.exchanges
    for shown in (exchange.request_body, exchange.reply_body):
        assert b"MEMORIA_PULL_TOKEN" in base64.b64decode(shown.removeprefix("base64: "))
        assert PULL.encode() not in base64.b64decode(shown.removeprefix("base64: "))
    assert PULL not in str(exchange)


def _null_lists(method: str, document: Any) -> Any:
    key = {"ListChanges": "rows", "Announce": "items", "Authorize": "verdicts"}.get(method)
    return document if key is None or document.get(key) else {**document, key: None}


@pytest.mark.slow
def test_null_for_an_empty_list_is_an_empty_list() -> None:
    """As encoders of other languages write it."""
    report = run(Mutant("nulls", "Empty lists are null.", around=replies(_null_lists)).target())
    assert last_line(report) == "conformant: Describe transport S1 S1a S2 S3 S6"


@pytest.mark.parametrize("text", ["naïve/海", "a<b>&c", 'q"uote\\', "plain"])
def test_an_id_is_known_in_every_spelling_of_json(text: str) -> None:
    """With and without escapes, so that an encoder's habit is no difference in the answer (S2-02)."""
    escaped = json.dumps(text)
    for written in (escaped, json.dumps(text, ensure_ascii=False), escaped.replace("/", "\\/")):
        assert json.loads(written) == text
        assert written.encode() in _spellings(text)


@pytest.mark.slow
def test_two_runs_at_once_do_not_disturb_each_other() -> None:
    """Each has its prefix, its consumers and its restores (the state hook's promise). Broken to see red: a restore of
    the whole database; one consumer `second` for all."""
    sibling = empty_sibling()

    async def both() -> list[Report]:
        return list(await asyncio.gather(*(Runner(target_of(sibling)).run() for _ in range(2))))

    assert [last_line(report) for report in asyncio.run(both())] == [
        "conformant: Describe transport S1 S1a S2 S3 S6",
        "conformant: Describe transport S1 S1a S2 S3 S6",
    ]


@pytest.mark.parametrize("verb", ["retire_tokens", "teardown"])
def test_a_hook_that_breaks_when_it_cleans_up_is_a_broken_hook(verb: str) -> None:
    """Also at the very end: nobody knows then what the next run will find."""
    sibling = empty_sibling()

    def state(request: dict[str, Any]) -> dict[str, Any]:
        if request["state"] == verb:
            raise RuntimeError
        return hook_of(sibling)(request)

    report = run(target_of(sibling, state), "S1-17", "S2-01")
    assert report.broken
    assert exit_code(report) is Exit.HARNESS


@pytest.mark.parametrize(
    "spoil",
    [
        {"aliases": {"doc.alpha": None}},
        {"aliases": {"doc.alpha": ["x"]}},
        {"aliases": {"doc.alpha": ""}},
        {"aliases": {"doc.alpha": "x" * 2000}},
        {"aliases": {"asker.ann": 7}},
        {"aliases": {"asker.ann": {"address": 7}}},
        {"aliases": 7},
        {"revisions": {"doc.alpha": 7}},
    ],
)
def test_odd_answers_of_a_hook_are_the_hooks(spoil: dict[str, Any]) -> None:
    """Exit 3 with a sentence about the hook, and never a failure of the app."""
    sibling = empty_sibling()

    def state(request: dict[str, Any]) -> dict[str, Any]:
        answer = hook_of(sibling)(request)
        if request["state"] != "load_world":
            return answer
        return {
            key: {**value, **spoil.get(key, {})} if isinstance(spoil.get(key, {}), dict) else spoil[key]
            for key, value in answer.items()
        }

    report = run(target_of(sibling, state), "S2-01")
    assert exit_code(report) is Exit.HARNESS
    assert "the state hook's" in report.results[0].message


def test_an_app_without_revisions_to_be_known_is_not_guessed_at() -> None:
    """It serves S2 only and its hook tells no revisions: what cannot be asked is not shown, and nothing fails."""

    class _OnlyS2(SiblingServer):
        async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
            right = await super().describe(request, caller)
            return pb.DescribeResponse(app="rights", calls=[pb.CALL_AUTHORIZE], subject_kinds=right.subject_kinds)

    target = Mutant("only-s2", "It answers about people.", server=_OnlyS2).target()
    asked = target.hook
    assert asked is not None

    class _Quiet:
        fixed = False

        async def ask(self, verb: str, params: Any, action: str = "setup") -> Any:
            answer = await asked.ask(verb, params, action)
            return {key: value for key, value in answer.items() if not key.startswith("revision")}

    object.__setattr__(target, "hook", _Quiet())
    report = run(target, "S2-01", "S2-02", "S2-15")
    assert {result.id: result.status for result in report.results} == {
        "S2-01": Status.SKIP,
        "S2-02": Status.SKIP,
        "S2-15": Status.PASS,
    }
    assert "give `revisions`" in report.results[0].message


def test_a_sibling_that_holds_too_few_items_is_not_shown_to_page() -> None:
    """A hook that leaves the further items out has not let the suite try a long feed."""
    sibling = empty_sibling()

    def state(request: dict[str, Any]) -> dict[str, Any]:
        request["params"]["items"] = [i for i in request["params"].get("items", ()) if "extra" not in i["alias"]]
        return hook_of(sibling)(request)

    (result,) = run(target_of(sibling, state), "S1-14").results
    assert (result.status, result.unshown) == (Status.SKIP, True)
