"""What is said out loud above the results: what is withheld and why, and which sources are behind."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import assert_never

from memoria_search.corpus.model import Source, SourceState
from memoria_search.ruling import Cause


class NoticeKind(IntEnum):
    """What a notice says, in the order they are listed for one app."""

    NO_ANSWER = 1
    STALE = 2
    RECONCILING = 3
    AS_OF = 4
    DEGRADED = 5


OURSELVES = "memoria"
"""In an app's place where a notice is about our own store."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One line. `count` is 0 where no count applies."""

    app: str
    kind: NoticeKind
    count: int = 0
    as_of: datetime | None = None


def kind_of(cause: Cause) -> NoticeKind:
    """The line a cause is told by. AHEAD is told as the reconciling that it starts (AUT-05)."""
    match cause:
        case Cause.NO_ANSWER:
            return NoticeKind.NO_ANSWER
        case Cause.STALE:
            return NoticeKind.STALE
        case Cause.AHEAD:
            return NoticeKind.RECONCILING
        case _:
            assert_never(cause)


def compose(
    withheld: Iterable[tuple[str, Cause]], sources: Iterable[Source], *, damaged: bool = False
) -> tuple[Notice, ...]:
    """One notice an app and kind, by app, then kind: from what is withheld, and from how the sources stand (RET-05).

    `damaged` says that matches may be missing: stored rows do not open, or vectors that should be asked are not there.
    """
    counts = Counter((app, kind_of(cause)) for app, cause in withheld)
    lines = {key: Notice(*key, count=count) for key, count in counts.items()}
    if damaged:
        lines[OURSELVES, NoticeKind.DEGRADED] = Notice(OURSELVES, NoticeKind.DEGRADED)
    for source in sources:
        match source.state:
            case SourceState.CURRENT:
                continue
            case SourceState.AS_OF:
                lines[source.app, NoticeKind.AS_OF] = Notice(source.app, NoticeKind.AS_OF, as_of=source.as_of)
            case SourceState.RECONCILING:
                key = (source.app, NoticeKind.RECONCILING)
                lines.setdefault(key, Notice(*key))
            case SourceState.PARTIAL:
                lines[source.app, NoticeKind.DEGRADED] = Notice(source.app, NoticeKind.DEGRADED)
            case _:
                assert_never(source.state)
    return tuple(lines[key] for key in sorted(lines))
