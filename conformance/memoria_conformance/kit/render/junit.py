"""The report as JUnit XML, for CI systems: one testsuite a call, red there exactly where a case failed the run."""

import xml.etree.ElementTree as ET

from memoria_conformance.kit.render.words import citation, outcome_of, reply_text, request_text, status_word, visible
from memoria_conformance.kit.report import CaseResult, Level, Report, Status
from memoria_conformance.kit.verdict import call_verdicts, last_line


def render_junit(report: Report) -> str:
    """A document to be written as UTF-8.

    MUST failures and stale entries are `<failure>`, breakages of the suite `<error>`. Skips, known failures and failed
    SHOULD and MAY cases are `<skipped>` with their reason, for they do not fail a run. What XML 1.0 cannot hold is
    written out.
    """
    root = ET.Element("testsuites", name=visible(f"memoria-conformance {report.app}".rstrip()))
    for verdict in call_verdicts(report):
        results = report.of(verdict.call)
        if results:
            root.append(_suite(verdict.call, results))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", _seconds(report.results))
    if len(root):
        _property(root[0], "url", report.url)
        _property(root[0], "verdict", last_line(report))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _property(suite: ET.Element, name: str, value: str) -> None:
    properties = suite.find("properties")
    if properties is None:
        properties = ET.Element("properties")
        suite.insert(0, properties)
    ET.SubElement(properties, "property", name=name, value=visible(value))


def _suite(call: str, results: tuple[CaseResult, ...]) -> ET.Element:
    suite = ET.Element("testsuite", name=visible(call), tests=str(len(results)))
    for result in results:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=visible(f"memoria.{call}"),
            name=visible(result.id),
            time=_seconds((result,)),
        )
        _outcome(case, result)
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", _seconds(results))
    return suite


def _outcome(case: ET.Element, result: CaseResult) -> None:
    message = visible(result.message) or visible(result.rule)
    first = message.partition("\n")[0]
    if result.status is Status.PASS:
        return
    if result.status is Status.STALE or (result.status is Status.FAIL and result.level is Level.MUST):
        element = ET.SubElement(case, "failure", type=status_word(result), message=first)
    elif result.status is Status.ERROR:
        element = ET.SubElement(case, "error", type="ERROR", message=first)
    elif result.status is Status.FAIL:
        element = ET.SubElement(case, "skipped", type=result.level, message=f"{result.level}, not met: {first}")
    else:
        reason = f"not shown: {first}" if result.unshown else first
        ET.SubElement(case, "skipped", type=status_word(result), message=reason)
        if result.status is Status.KNOWN:
            ET.SubElement(case, "system-out").text = message
        return
    element.text = _details(result, message)


def _details(result: CaseResult, message: str) -> str:
    parts = [message, f"{visible(result.rule)}\n{citation(result)}"]
    if result.step:
        parts.append(f"step: {visible(result.step)}")
    if result.exchanges:
        *before, last = result.exchanges
        parts += [outcome_of(exchange) for exchange in before]
        parts += [f"sent:\n{request_text(last)}", f"came back:\n{reply_text(last)}"]
        if last.curl:
            parts.append(f"again:\n{visible(last.curl)}")
    return "\n\n".join(parts)


def _seconds(results: tuple[CaseResult, ...]) -> str:
    return f"{sum(result.seconds for result in results):.3f}"
