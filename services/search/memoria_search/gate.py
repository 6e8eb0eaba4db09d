"""The gate: the only place where a candidate becomes a passage.

Nothing unspoken is spoken, because
1. `Passage` and `SpokenDocument` can be made only with `_MINT`, which no other module has;
2. this module makes them only from what `_rule` sorted under `spoken`;
3. `_rule` sorts there only what authz answered SPEAK about, in this request, for this subject and this revision;
4. text is opened after that, by the number of the revision that was ruled, and never of another;
5. the wire mapping takes only `Passage` and `SpokenDocument`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from datetime import datetime
from enum import Enum
from typing import assert_never

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import Author, Subject
from memoria_search.claims import claim_of, not_found, probes, silent_app
from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.model import FILES, Chunk, DocumentRef, Metadata
from memoria_search.corpus.sources import Sources
from memoria_search.corpus.store import Store
from memoria_search.notices import Notice, NoticeKind, compose, kind_of
from memoria_search.retrieve.candidates import MAX_CANDIDATES, Candidate, Ranking
from memoria_search.ruling import NO_ANSWER, Arbiter, Cause, Claim, Disposition, OwnedClaim, Ruling

PER_PAGE = 256
"""Candidates ruled for each page asked for: one S2 call a sibling on page one (AMD-05, CON-09)."""

_MINT = object()

_NO_QUESTION = frozenset({Kind.REFUSED, Kind.UNAUTHENTICATED, Kind.INVALID})


class State(Enum):
    """Whether a passage's text could be opened."""

    SPOKEN = "spoken"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage ruled SPEAK in this request. `rank` counts what may be spoken, from 1, over all pages."""

    mint: InitVar[object]
    rank: int
    app: str
    document_id: str
    ordinal: int
    state: State
    title: str = ""
    trail: tuple[str, ...] = ()
    text: str = ""
    author: Author = Author.UNKNOWN
    date: datetime | None = None
    link: str = ""

    def __post_init__(self, mint: object) -> None:
        if mint is not _MINT:
            raise TypeError("only the gate makes passages")


@dataclass(frozen=True, slots=True)
class SpokenDocument:
    """A document ruled SPEAK in this request, opened whole. `parts`: ids of a long upload's parts, ruled likewise."""

    mint: InitVar[object]
    ref: DocumentRef
    metadata: Metadata
    chunks: tuple[Chunk, ...]
    parts: tuple[str, ...]

    def __post_init__(self, mint: object) -> None:
        if mint is not _MINT:
            raise TypeError("only the gate makes spoken documents")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of passages. `more` and `refine` follow from what may be spoken, and from the page asked for, alone."""

    passages: tuple[Passage, ...]
    notices: tuple[Notice, ...]
    more: bool
    refine: bool


@dataclass(frozen=True, slots=True)
class _Ruled:
    """Candidates by what is to be done with them, each with its place in the window. OMIT leaves no trace."""

    spoken: tuple[tuple[int, Candidate], ...]
    withheld: tuple[tuple[int, str, Cause], ...]


def window(page: int, size: int) -> int:
    """How many candidates to rank and have ruled for a page; 0 where the page lies past the bound (AMD-05)."""
    return 0 if page * size > MAX_CANDIDATES else min(MAX_CANDIDATES, PER_PAGE * page)


class Gate:
    """Asks authz once a request and opens what may be spoken."""

    def __init__(
        self,
        arbiter: Arbiter,
        store: Store,
        catalogue: Catalogue,
        sources: Sources,
        damaged: Callable[[], int] = lambda: 0,
    ) -> None:
        self._damaged = damaged
        self._arbiter = arbiter
        self._store = store
        self._catalogue = catalogue
        self._sources = sources

    async def page(self, subject: Subject, ranking: Ranking | None, page: int, size: int) -> Page:
        """Page `page`, counted from 1, of what may be spoken of a ranking, of `window(page, size)` candidates at most.

        Notices count what is withheld above the last row shown; on a page that is not full, all of the window. None
        says that nothing was looked for, which follows from the query and the page alone: then nobody is asked. What
        the ranking went without is said, and how the sources stand is said of then and of now: one that has come back
        meanwhile was left out all the same.
        """
        candidates = ranking.candidates if ranking else []
        ruled = await self._rule(subject, candidates) if ranking else _Ruled((), ())
        shown = ruled.spoken[(page - 1) * size : page * size]
        horizon = shown[-1][0] if len(shown) == size else len(candidates)
        passages, replaced = await self._open(shown, (page - 1) * size)
        withheld = [(app, cause) for place, app, cause in ruled.withheld if place < horizon] + replaced
        further = len(ruled.spoken) > page * size
        bounded = window(page + 1, size) == 0
        return Page(
            passages=passages,
            notices=compose(
                withheld,
                [*(ranking.standing if ranking else ()), *self._sources.all()],
                damaged=self._damaged() > 0 or bool(ranking and ranking.degraded),
            ),
            more=further and not bounded,
            refine=(further and bounded) or window(page, size) == 0,
        )

    async def document(self, subject: Subject, document_id: str) -> SpokenDocument | Notice:
        """A document, or why it is withheld. Raises NOT_FOUND: one sentence for a refusal and for an absence.

        An id that is not held is asked about all the same, as one that is not present, and every app is asked about an
        item it cannot have. So hidden and absent take the same round, and while some app does not answer, both are
        withheld with the same words: "did not answer" for the one and "not found" for the other would tell them apart.
        """
        ref = self._catalogue.whole(self._catalogue.document(document_id))
        parts = self._catalogue.parts(ref) if ref else []
        asked: dict[str, Claim] = {document_id: claim_of(ref) if ref else OwnedClaim(document_id, present=False)}
        asked |= {part.document_id: claim_of(part) for part in parts}
        apps = [source.app for source in self._sources.all()]
        asked |= probes(apps)
        rulings = await self._rulings(subject, asked)
        ruling = rulings[document_id]
        match ruling.disposition:
            case Disposition.OMIT:
                return silent_app(apps, rulings)
            case Disposition.WITHHOLD:
                if ref is not None and ruling.cause in (Cause.STALE, Cause.AHEAD):
                    return Notice(ref.app, kind_of(ruling.cause), count=1)
                return silent_app(apps, rulings, ref.app if ref else FILES)
            case Disposition.SPEAK:
                opened = await self._store.open_document(ref) if ref else None
                if ref is None or opened is None:
                    if ref is not None and self._catalogue.document(document_id) is not None:  # replaced since
                        return Notice(ref.app, NoticeKind.STALE, count=1)
                    raise not_found()
                spoken = _spoken((part.document_id, rulings[part.document_id]) for part in parts)
                return SpokenDocument(_MINT, ref, opened.metadata, opened.chunks, spoken)
            case _:
                assert_never(ruling.disposition)

    async def _rule(self, subject: Subject, candidates: Sequence[Candidate]) -> _Ruled:
        """Sort candidates by authz's answer about their documents: one question, whatever the number of chunks."""
        refs = {candidate.ref.document_id: candidate.ref for candidate in candidates}
        rulings = await self._rulings(subject, {key: claim_of(ref) for key, ref in refs.items()})
        spoken: list[tuple[int, Candidate]] = []
        withheld: list[tuple[int, str, Cause]] = []
        for place, candidate in enumerate(candidates):
            ruling = rulings[candidate.ref.document_id]
            match ruling.disposition:
                case Disposition.SPEAK if candidate.replaced:
                    withheld.append((place, candidate.ref.app, Cause.STALE))
                case Disposition.SPEAK:
                    spoken.append((place, candidate))
                case Disposition.OMIT:
                    continue
                case Disposition.WITHHOLD:
                    assert ruling.cause is not None  # Ruling cannot be made otherwise
                    withheld.append((place, candidate.ref.app, ruling.cause))
                case _:
                    assert_never(ruling.disposition)
        return _Ruled(tuple(spoken), tuple(withheld))

    async def _rulings(self, subject: Subject, asked: Mapping[str, Claim]) -> Mapping[str, Ruling]:
        """A ruling for every key. There is a round where there is no key too: a search that found nothing takes as long
        as one that found what is hidden. Where authz fails or its answer does not fit, all are withheld (RUL-11)."""
        try:
            rulings = await self._arbiter.rule(subject, list(asked.values()))
        except (ServiceError, TimeoutError) as error:
            if isinstance(error, ServiceError) and error.kind in _NO_QUESTION:
                raise  # not a missing answer but a refused question: somebody without standing gets no counts either
            kind = error.kind.value if isinstance(error, ServiceError) else Kind.DEADLINE.value
            log.get_logger().warning("no rulings", kind=kind, count=len(asked))
            return dict.fromkeys(asked, NO_ANSWER)
        if len(rulings) != len(asked):
            log.get_logger().error("rulings do not match claims", count=len(asked))
            return dict.fromkeys(asked, NO_ANSWER)
        return dict(zip(asked, rulings, strict=True))

    async def _open(
        self, shown: Sequence[tuple[int, Candidate]], before: int
    ) -> tuple[tuple[Passage, ...], list[tuple[str, Cause]]]:
        """Open what is shown. What was deleted since its ruling is dropped; a revision that was replaced since is
        withheld, which is told beside the passages; one that does not open is said in its row (ING-05)."""
        if not shown:
            return (), []
        opened = await self._store.open_chunks([(candidate.ref, candidate.ordinal) for _, candidate in shown])
        passages: list[Passage] = []
        replaced: list[tuple[str, Cause]] = []
        for (_, candidate), found in zip(shown, opened, strict=True):
            if found is None:
                if self._catalogue.document(candidate.ref.document_id) is not None:
                    replaced.append((candidate.ref.app, Cause.STALE))
                continue
            rank, ref, ordinal = before + len(passages) + 1, candidate.ref, candidate.ordinal
            about = found.metadata or Metadata(title="")
            trail = about.trail + (found.chunk.trail if found.chunk else ())
            whole = found.metadata is not None and found.chunk is not None
            passages.append(
                Passage(
                    _MINT,
                    rank=rank,
                    app=ref.app,
                    document_id=ref.document_id,
                    ordinal=ordinal,
                    state=State.SPOKEN if whole else State.UNAVAILABLE,
                    title=about.title,
                    trail=trail,
                    text=found.chunk.text if whole and found.chunk else "",
                    author=about.author,
                    date=about.date,
                    link=about.link,
                )
            )
        return tuple(passages), replaced


def _spoken(ruled: Iterable[tuple[str, Ruling]]) -> tuple[str, ...]:
    """The keys that were ruled SPEAK."""
    return tuple(key for key, ruling in ruled if ruling.disposition is Disposition.SPEAK)
