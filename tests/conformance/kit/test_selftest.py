"""The proof of the suite, and that the proof itself can fail."""

import asyncio
import shutil

import pytest

from memoria_conformance.kit.suite import packaged_cases
from memoria_conformance.mutants import MUTANTS
from memoria_conformance.selftest import (
    NODE_FOLDER,
    REFERENCES,
    Killed,
    ReferenceBroke,
    kill,
    prove,
    run_reference,
    weigh,
)

_NODE = shutil.which("node") is not None and (NODE_FOLDER / "node_modules").is_dir()


def test_mutants_have_names_of_their_own() -> None:
    """At least 25, one fault each, said in a sentence."""
    assert len(MUTANTS) >= 25
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert all(mutant.says.endswith(".") for mutant in MUTANTS)


def test_a_living_mutant_an_idle_case_and_a_failing_reference_are_no_proof() -> None:
    """Broken to see red: `all` of the killed read as `any`."""
    everything = tuple(case.id for case in packaged_cases() if not case.data.unkillable)
    good = Killed("good", everything)
    assert weigh({"r": 0}, {}, [good]).proved
    assert not weigh({"r": 1}, {}, [good]).proved
    assert not weigh({"r": 0}, {}, [good, Killed("alive", ())]).proved
    idle = weigh({"r": 0}, {}, [Killed("good", everything[1:])])
    assert not idle.proved
    assert idle.idle == everything[:1]
    told = weigh({"r": 0}, {}, [Killed("good", tuple(case.id for case in packaged_cases()))])
    assert not told.proved
    assert told.contradicted


@pytest.mark.slow
def test_a_suite_that_breaks_over_a_mutant_kills_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of ours must not pass for a caught fault."""
    from memoria_conformance.kit import runner

    async def broken(*_: object) -> None:
        raise KeyError("a slip")

    monkeypatch.setitem(runner.STEPS, "describe", broken)
    with pytest.raises(RuntimeError, match="D-01"):
        kill("link-is-team")


def test_a_reference_that_cannot_be_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Node may be missing; that is not a pass."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    node = next(reference for reference in REFERENCES if reference.command[0] == "node")
    with pytest.raises(ReferenceBroke, match=r"Node\.js is not installed"):
        asyncio.run(run_reference(node))


@pytest.mark.slow
def test_the_suite_is_proved() -> None:
    """Every reference exits 0, every mutant is killed, every MUST case kills one or says why none can."""
    outcome = asyncio.run(prove())
    if not _NODE:
        del outcome.references["node-connectrpc"]  # its absence is said by the test above, and by the command
    assert set(outcome.references.values()) == {0}, outcome.lines
    assert len(outcome.references) >= 3
    assert [mutant.name for mutant in outcome.mutants if not mutant.by] == []
    assert (outcome.idle, outcome.contradicted) == ((), ())
