"""The suite inside a sibling's own pytest run: give a `memoria_target`, ask for a `memoria_case`.

    @pytest.fixture(scope="session")
    def memoria_target():
        return Target.asgi(app, pull_token="…", ask_token="…", origin="http://wiki.localhost", state=hook)

    def test_contract(memoria_case):
        memoria_case()

One test a case. Only the selected ones are run, all of them once, before the first.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # every pytest run loads this file, and most of them have no use for the kit
    from memoria_conformance.kit import CaseResult, Target

_FIXTURE = "memoria_case"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a case for whoever asks for `memoria_case`."""
    if _FIXTURE in metafunc.fixturenames:
        from memoria_conformance.kit import packaged_cases

        ids = [case.id for case in packaged_cases()]
        metafunc.parametrize(_FIXTURE, ids, indirect=True, ids=ids)


@pytest.fixture(scope="session")
def memoria_target() -> "Target":
    """To be given by the sibling's own conftest."""
    raise pytest.UsageError("define a session fixture `memoria_target` that returns a memoria_conformance.kit.Target")


@pytest.fixture(scope="session")
def memoria_results(request: pytest.FixtureRequest, memoria_target: "Target") -> "dict[str, CaseResult]":
    """Case id → result, of the cases that this pytest run selected."""
    from memoria_conformance.kit import Runner, packaged_cases

    selected = {
        item.callspec.params[_FIXTURE]
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and _FIXTURE in item.callspec.params
    }
    cases = [case for case in packaged_cases() if case.id in selected]
    report = asyncio.run(Runner(memoria_target).run(cases))
    return {result.id: result for result in report.results}


@pytest.fixture
def memoria_case(request: pytest.FixtureRequest, memoria_results: "dict[str, CaseResult]") -> Callable[[], None]:
    """Fails, skips or passes as the case did. A SHOULD or MAY that fails is an expected failure.

    A MUST that applies and could not be tried fails, unless the ini option `memoria_allow_skipped` is set.
    """
    result = memoria_results[request.param]

    def check() -> None:
        _conclude(result, allow_skipped=bool(request.config.getini("memoria_allow_skipped")))

    return check


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the command calls --allow-skipped."""
    parser.addini("memoria_allow_skipped", "cases that could not be tried are skipped, not failed", "bool", False)


def _conclude(result: "CaseResult", *, allow_skipped: bool) -> None:
    from memoria_conformance.kit import Level, Status
    from memoria_conformance.kit.render.table import render_failure

    match result.status:
        case Status.PASS:
            return
        case Status.SKIP if result.unshown and not allow_skipped:
            pytest.fail(f"{result.id} was not tried, so conformance is not shown: {result.message}", pytrace=False)
        case Status.SKIP:
            pytest.skip(result.message)
        case Status.FAIL if result.level is not Level.MUST:
            pytest.xfail(f"{result.level}: {result.message}")
        case _:
            pytest.fail(render_failure(result), pytrace=False)


def pytest_make_parametrize_id(config: pytest.Config, val: Any, argname: str) -> str | None:
    """Case ids as they are."""
    return val if argname == _FIXTURE else None
