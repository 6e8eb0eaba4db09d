"""The report in its five forms: what each says, and that they agree with one another and the exit code."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from memoria_conformance.kit.render.badge import _GREEN, render_badge
from memoria_conformance.kit.render.html import render_html
from memoria_conformance.kit.render.json import render_json
from memoria_conformance.kit.render.junit import render_junit
from memoria_conformance.kit.render.table import render_table
from memoria_conformance.kit.report import CaseResult, Exchange, Level, Report, Status
from memoria_conformance.kit.verdict import exit_code, last_line

RULE = "Private and unknown items get these same bytes."
ASKED = Exchange(
    "POST /memoria.sibling.v1.SiblingService/Authorize",
    (("Authorization", "Bearer $MEMORIA_ASK_TOKEN"),),
    '{"items":[]}',
    403,
    (("Content-Type", "application/json"),),
    '{"code":"permission_denied"}',
    "curl -sS -i http://demo.docs.localhost:1/memoria.sibling.v1.SiblingService/Authorize --data-raw '{\"items\":[]}'",
)
SET = Exchange("state hook: move_rung", (), '{"state":"move_rung"}', None, (), "{}", "")


def case(name: str, status: Status = Status.PASS, call: str = "S2", **more: Any) -> CaseResult:
    """One result."""
    made = CaseResult(name, call, Level.MUST, "s2-authorization", RULE, status, seconds=0.25)
    return replace(made, **more)


REPORT = Report(
    "docs",
    "http://demo.docs.localhost:1",
    (
        case("s1-page", call="S1"),
        case("s1-slow", Status.FAIL, "S1", level=Level.SHOULD, message="took 3 s"),
        case("s2-same", step="ask twice"),
        case("s2-private", Status.FAIL, message="expected 200\ncame 403", step="ask again", exchanges=(SET, ASKED)),
        case("s2-silent", Status.FAIL, message="nobody answered", exchanges=(replace(ASKED, status=None),)),
        case("s2-known", Status.KNOWN, message="known: Ticket 9\ncame 403"),
        case("s2-stale", Status.STALE, message="passes, though Ticket 8"),
        case("s2-not-tried", Status.SKIP, message="the hook has no such verb", unshown=True),
        case("s2-not-meant", Status.SKIP, message="keys on addresses"),
        case("s3-broken", Status.ERROR, "S3", message="the hook answered 500"),
        case("s6-sum", Status.SKIP, "S6", message="not declared"),
    ),
    ("S6",),
    ("The state hook is a file.",),
)
GOOD = Report("docs", "http://demo.docs.localhost:1", (case("s2-same"), case("s1-page", call="S1")), ("S6",))


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_table_says_what_was_sent_what_came_and_what_it_breaks() -> None:
    """By call, a line a case, and of each failure everything needed to see it again.

    Broken to see red: the citation, the `curl` and the earlier steps left out, one at a time.
    """
    text = render_table(REPORT, width=100)
    for line in (
        "docs at http://demo.docs.localhost:1",
        "  The state hook is a file.",
        "S1: conformant 1/1",
        "  pass   s1-page       Private and unknown items get these same bytes.",
        "  warn   s1-slow       (SHOULD) Private and unknown items get these same bytes.",
        "S2: partial 1/6",
        "  SKIP   s2-not-tried  Private and unknown items get these same bytes.",
        "                       the hook has no such verb",
        "                       known: Ticket 9",
        "  FAIL   s2-private (MUST)",
        "    breaks     Private and unknown items get these same bytes.",
        "               docs/siblings/contract.md#s2-authorization",
        "    step       ask again",
        "    found      expected 200",
        "               came 403",
        "    before     state hook: move_rung",
        "    sent       POST /memoria.sibling.v1.SiblingService/Authorize",
        "               Authorization: Bearer $MEMORIA_ASK_TOKEN",
        '               {"items":[]}',
        "    came back  403",
        '               {"code":"permission_denied"}',
        f"    again      {ASKED.curl}",
        "    came back  no reply",
        "  ERROR  s3-broken (MUST)",
        "  STALE  s2-stale (MUST)",
        "  Describe does not declare it.",
    ):
        assert line in text.split("\n"), line
    assert text.split("\n")[-2] == last_line(REPORT)
    assert "not declared" not in text  # said once for the call, not for each case


def test_the_table_is_coloured_only_on_a_terminal() -> None:
    """Colours add nothing but themselves. Broken to see red: `isatty` not looked at."""
    plain, coloured = render_table(REPORT), render_table(REPORT, isatty=True)
    assert "\x1b" not in plain
    assert "\x1b[31mFAIL\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_a_junit_reader_sees_failures_as_failures() -> None:
    """Read back by a reader that is not ours: one suite a call, each outcome its own element, times, reasons.

    Broken to see red: KNOWN as `<failure>`, STALE as `<skipped>`, the counts of a suite left out.
    """
    read = JUnitXml.fromstring(render_junit(REPORT).encode())
    suites = {suite.name: suite for suite in read}
    assert list(suites) == ["S1", "S2", "S3", "S6"]
    outcomes = {test.name: [type(one) for one in test.result] for suite in read for test in suite}
    assert outcomes == {
        "s1-page": [],
        "s1-slow": [Skipped],
        "s2-same": [],
        "s2-private": [Failure],
        "s2-silent": [Failure],
        "s2-known": [Skipped],
        "s2-stale": [Failure],
        "s2-not-tried": [Skipped],
        "s2-not-meant": [Skipped],
        "s3-broken": [Error],
        "s6-sum": [Skipped],
    }
    s2 = suites["S2"]
    assert (s2.tests, s2.failures, s2.errors, s2.skipped, s2.time) == (7, 3, 0, 3, 1.75)
    assert (read.tests, read.failures, read.errors, read.skipped) == (11, 3, 1, 5)
    found = {test.name: test.result[0] for suite in read for test in suite if test.result}
    assert found["s2-private"].message == "expected 200"
    for part in ("came 403", RULE, "docs/siblings/contract.md#s2-authorization", "step: ask again", ASKED.curl):
        assert part in found["s2-private"].text
    assert found["s2-known"].message == "known: Ticket 9"
    assert found["s2-not-tried"].message == "not shown: the hook has no such verb"
    assert found["s1-slow"].message == "SHOULD, not met: took 3 s"


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("level", Level)
def test_junit_is_red_exactly_where_the_exit_code_is(status: Status, level: Level) -> None:
    """A CI system that goes by the file and one that goes by the exit code agree, skips apart.

    Broken to see red: a failed SHOULD as `<failure>`.
    """
    report = replace(GOOD, results=(*GOOD.results, case("x", status, level=level)))
    read = JUnitXml.fromstring(render_junit(report).encode())
    assert (read.failures + read.errors > 0) == (exit_code(report).value != 0)


def test_the_json_document_has_its_schema() -> None:
    """Numbered, and with every field a program needs; a change here is a change of `schema`."""
    document = json.loads(render_json(REPORT))
    assert list(document) == [
        *("schema", "app", "url", "verdict", "exit", "line", "calls", "not_shown", "absent", "notes", "left_out"),
        "results",
    ]
    assert (document["schema"], document["verdict"], document["exit"]) == (1, "broken", 3)
    assert document["calls"][1] == {"call": "S2", "state": "partial", "passed": 1, "counted": 6}
    assert list(document["results"][3]) == [
        *("id", "call", "level", "section", "rule", "status", "message", "step", "unshown", "seconds", "exchanges")
    ]
    assert document["results"][3]["exchanges"][1] == {
        "request": {
            "line": ASKED.request_line,
            "headers": [["Authorization", "Bearer $MEMORIA_ASK_TOKEN"]],
            "body": '{"items":[]}',
        },
        "reply": {
            "status": 403,
            "headers": [["Content-Type", "application/json"]],
            "body": '{"code":"permission_denied"}',
        },
        "curl": ASKED.curl,
    }
    assert json.loads(render_json(GOOD))["verdict"] == "conformant"


def test_no_option_makes_a_sibling_conformant() -> None:
    """What is allowed to be skipped ends the command with 0, and no page, badge or document calls it conformant; nor
    what is known to fail, nor a run of a few cases. Broken to see red: the headline taken from the exit code."""
    skipped = case("x", Status.SKIP, unshown=True, message="no verb")
    report = replace(GOOD, results=(*GOOD.results, skipped))
    assert json.loads(render_json(report))["exit"] == 1
    assert json.loads(render_json(report, allow_skipped=True))["exit"] == 0
    known = case("y", Status.KNOWN, message="agreed")
    for partly in (report, replace(GOOD, results=(*GOOD.results, known)), replace(GOOD, left_out=3)):
        assert json.loads(render_json(partly, allow_skipped=True))["verdict"] == "partly"
        assert ">Partly conformant<" in render_html(partly)
        assert _GREEN not in render_badge(partly)
    assert json.loads(render_json(GOOD))["verdict"] == "conformant"
    assert ">Conformant<" in render_html(GOOD)
    assert _GREEN in render_badge(GOOD)
    assert last_line(replace(GOOD, left_out=3)).endswith(" · not run: 3 cases")


def test_the_page_needs_nothing_else() -> None:
    """No script, no address to load from, a policy that forbids both; failures open, the rest folded.

    Broken to see red: the style changed behind its digest; a link to a font.
    """
    page = render_html(REPORT)
    tags = Tags(page).found
    assert not {name for name, _ in tags} & {"script", "link", "img", "iframe", "object", "form", "base"}
    names = {attribute for _, attributes in tags for attribute in attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "style", "srcset", "action"})
    assert all((attributes.get("href") or "#").startswith("#") for _, attributes in tags)
    assert "url(" not in page
    assert "@import" not in page
    policy = next(attributes["content"] for _, attributes in tags if "http-equiv" in attributes)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert page.count("<details open>") == sum(
        result.status.value in {"fail", "stale", "error"} for result in REPORT.results
    )
    for part in ("docs/siblings/contract.md#s2-authorization", "Ticket 9", "no reply", "Describe does not declare it"):
        assert part in page


def test_the_badge_says_the_verdict_to_those_who_cannot_see_it() -> None:
    """The calls that conform; green, amber, red or grey; and the last line for its title."""
    space = "{http://www.w3.org/2000/svg}"

    def read(report: Report) -> tuple[str, str, str]:
        root = ET.fromstring(render_badge(report))
        texts = [text.text or "" for text in root.iter(f"{space}text")]
        return " | ".join(texts), root.findall(f"{space}path")[0].attrib["fill"], root.findtext(f"{space}title") or ""

    ran = tuple(result for result in REPORT.results if result.status is not Status.ERROR)
    badges = [
        read(GOOD),
        read(replace(REPORT, results=ran)),
        read(replace(GOOD, results=(case("x", Status.FAIL),))),
        read(REPORT),
    ]
    assert [text for text, _, _ in badges] == [
        *("memoria | S1 S2", "memoria | S1", "memoria | not conformant", "memoria | not run")
    ]
    assert len({colour for _, colour, _ in badges}) == 4
    assert badges[0][2] == "memoria contract: conformant: S1 S2 · absent: S6"
