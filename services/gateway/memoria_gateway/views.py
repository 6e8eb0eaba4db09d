"""What pages and the API show, as plain values. Text here is as the document has it: escaping is the template's."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from memoria_contract.types import Author, Subject

OURSELVES = "memoria"
"""In an app's place where a notice is about memoria itself."""

UPLOADS = "files"
"""The app label of memoria-owned uploads."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who is signed in, as authz knows them in this request."""

    address: str = field(repr=False)
    subject: Subject
    owner: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a snippet."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Result:
    """One spoken passage."""

    rank: int
    app: str
    title: str
    trail: tuple[str, ...]
    snippet: tuple[Part, ...]
    date: datetime | None
    author: Author
    document_id: str
    ordinal: int
    source_link: str
    available: bool

    @property
    def citation(self) -> str:
        """Our own page of it, at the passage."""
        return f"/documents/{self.document_id}#p{self.ordinal}"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something said out loud above the results."""

    app: str
    kind: str  # no_answer | stale | reconciling | as_of | degraded
    count: int
    as_of: datetime | None = None

    def text(self, now: datetime) -> str:
        """The sentence of RET-06."""
        name = app_name(self.app)
        results = "1 result" if self.count == 1 else f"{self.count} results"
        match self.kind:
            case "no_answer":
                return f"{name} did not answer; {results} withheld."
            case "stale":
                return f"{name} has newer versions; {results} withheld while memoria refetches."
            case "reconciling":
                return f"{name} is reconciling after a restore and is left out of this search."
            case "as_of":
                return f"{name}: {_as_of(self.as_of, now)}."
            case _:
                if self.app == OURSELVES:
                    return "memoria could not read or renew everything it keeps; results may be missing."
                return f"{name}: some of its items could not be read yet; results may be missing."


def _as_of(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return "not read yet"
    utc = moment.astimezone(UTC)
    day = "" if utc.date() == now.date() else f"{utc:%Y-%m-%d} "
    return f"current as of {day}{utc:%H:%M} UTC"


def app_name(label: str) -> str:
    """How a page names an app."""
    return label[:1].upper() + label[1:]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results."""

    results: tuple[Result, ...]
    notices: tuple[Notice, ...]
    more: bool
    refine: bool


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a document."""

    ordinal: int
    trail: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document, spoken whole."""

    document_id: str
    app: str
    title: str
    trail: tuple[str, ...]
    date: datetime | None
    author: Author
    source_link: str
    revision: str
    chunks: tuple[Chunk, ...]
    owned: bool
    part_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A document that an upload became."""

    document_id: str
    title: str
    revision: str
    chunks: int
    created: bool


@dataclass(frozen=True, slots=True)
class UploadReport:
    """What became of one file: documents, or the error that refused it."""

    name: str = field(repr=False)
    documents: tuple[Uploaded, ...] = ()
    warnings: tuple[str, ...] = ()
    error_kind: str = ""
    error: str = ""
