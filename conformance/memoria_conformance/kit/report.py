"""What a run saw: one result a case, the verdict a call, the line and the exit code that follow from them."""

from dataclasses import dataclass, field
from enum import Enum, StrEnum


class Level(StrEnum):
    """How binding a case is. Only MUST decides about conformance."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Status(StrEnum):
    """What became of a case."""

    PASS = "pass"  # noqa: S105 — not a password
    FAIL = "fail"
    SKIP = "skip"  # not run; `message` says why
    ERROR = "error"  # the suite itself or the state hook broke
    KNOWN = "known"  # failed, as the known-failure file said it would
    STALE = "stale"  # the known-failure file is wrong about it: it passes, or its date is past


class Exit(Enum):
    """Exit codes of the command."""

    CONFORMANT = 0
    NOT_CONFORMANT = 1  # a MUST failed or was not shown, or the known-failure file is stale
    USAGE = 2  # wrong options, nobody answers, or no case ran
    HARNESS = 3  # the state hook or the suite broke


CALLS = ("Describe", "transport", "S1", "S1a", "S2", "S3", "S6")
"""The groups a case can belong to, in the order they are reported."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply, redacted: tokens appear as `$MEMORIA_PULL_TOKEN` and the like."""

    request_line: str
    request_headers: tuple[tuple[str, str], ...]
    request_body: str
    status: int | None  # None: no reply came
    reply_headers: tuple[tuple[str, str], ...]
    reply_body: str
    curl: str  # one command that sends it again; "" where curl cannot


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case. Everything here may be shown to the sibling's developer; nothing holds a token."""

    id: str
    call: str  # one of CALLS
    level: Level
    section: str  # anchor of docs/siblings/contract.md
    rule: str  # the sentence of the contract it checks
    status: Status
    message: str = ""  # FAIL: what was expected and what came; SKIP, ERROR, KNOWN, STALE: why
    step: str = ""  # FAIL: which step, in words
    exchanges: tuple[Exchange, ...] = ()  # FAIL: up to the failing one, the last is the one at fault
    seconds: float = 0.0
    unshown: bool = False  # SKIP of a MUST that applies, but could not be tried: conformance is not shown


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run."""

    app: str  # as Describe says, "" where it did not
    url: str
    results: tuple[CaseResult, ...] = ()
    absent: tuple[str, ...] = ()  # calls that Describe does not declare
    notes: tuple[str, ...] = field(default=())  # what the reader should know about the run itself
    broken: str = ""  # why the state hook gave up, where it did: the run then says nothing
    left_out: int = 0  # cases that were not selected, or not reached

    def of(self, call: str) -> tuple[CaseResult, ...]:
        """The results of one call, in suite order."""
        return tuple(result for result in self.results if result.call == call)
