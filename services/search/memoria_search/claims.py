"""What owners are asked of a document, and of what is not there, so that hidden and absent take the same round."""

from collections.abc import Iterable, Mapping, Sequence

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.corpus.model import DocumentRef
from memoria_search.notices import Notice, NoticeKind
from memoria_search.ruling import Claim, Disposition, OwnedClaim, ProbeClaim, Ruling, SiblingClaim


def claim_of(ref: DocumentRef) -> Claim:
    """What its owner is asked. Read inside this request: the catalogue follows every durable write."""
    if ref.item_id is None:
        return OwnedClaim(ref.document_id, present=True)
    return SiblingClaim(ref.app, ref.item_id, ref.revision)


def probes(apps: Iterable[str]) -> dict[str, Claim]:
    """For each app the question whether it answers, by a key that no document id is."""
    return {_key(app): ProbeClaim(app) for app in apps}


def silent_app(apps: Sequence[str], rulings: Mapping[str, Ruling], own: str | None = None) -> Notice:
    """Which app did not answer, of those that were probed; the document's own only where none was.

    Raises NOT_FOUND where all answered.
    """
    silent = [app for app in apps if rulings[_key(app)].disposition is Disposition.WITHHOLD] or ([own] if own else [])
    if not silent:
        raise not_found()
    return Notice(silent[0], NoticeKind.NO_ANSWER, count=1)


def not_found() -> ServiceError:
    """One sentence for a refusal and for an absence."""
    return ServiceError(Kind.NOT_FOUND, "no such document")


def _key(app: str) -> str:
    return f"/{app}"
