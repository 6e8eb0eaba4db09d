"""Plain contract types to and from the generated `memoria.sibling.v1` messages, and the total decoder of S2."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_contract.types import Author, ItemId, Pair, Revision, Subject, SubjectKind, Verdict

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_KIND_TO_WIRE = {
    SubjectKind.PERSON_REF: pb.SUBJECT_KIND_PERSON_REF,
    SubjectKind.ADDRESS: pb.SUBJECT_KIND_ADDRESS,
}
_KIND_FROM_WIRE = {wire: kind for kind, wire in _KIND_TO_WIRE.items()}

_VERDICT_TO_WIRE = {
    Verdict.VISIBLE: pb.VERDICT_VISIBLE,
    Verdict.NOT_VISIBLE: pb.VERDICT_NOT_VISIBLE,
    Verdict.STALE: pb.VERDICT_STALE,
    Verdict.AHEAD: pb.VERDICT_AHEAD,
    Verdict.UNKNOWN: pb.VERDICT_UNKNOWN,
}
_VERDICT_FROM_WIRE = {wire: verdict for verdict, wire in _VERDICT_TO_WIRE.items()}

_AUTHOR_TO_WIRE = {
    Author.HUMAN: pb.AUTHOR_KIND_HUMAN,
    Author.MACHINE: pb.AUTHOR_KIND_MACHINE,
    Author.UNKNOWN: pb.AUTHOR_KIND_UNSPECIFIED,
}
_AUTHOR_FROM_WIRE = {wire: author for author, wire in _AUTHOR_TO_WIRE.items()}


def subject_kind_to_wire(kind: SubjectKind) -> "pb.SubjectKind":
    """The enum value of a subject kind (CON-01)."""
    return _KIND_TO_WIRE[kind]


def subject_to_wire(subject: Subject) -> pb.Subject:
    """A subject as a message; its kind travels with it (CON-01)."""
    return pb.Subject(kind=_KIND_TO_WIRE[subject.kind], value=subject.value)


def subject_from_wire(message: pb.Subject) -> Subject | None:
    """A subject, or None where the kind is unspecified or unknown, the value empty, or an address not lower case.

    None is answered UNKNOWN for the whole call: nothing is coerced (CON-02).
    """
    kind = _KIND_FROM_WIRE.get(message.kind)
    if kind is None or not message.value:
        return None
    if kind is SubjectKind.ADDRESS and message.value != message.value.lower():
        return None
    return Subject(kind, message.value)


def pair_to_wire(pair: Pair) -> pb.ItemRevision:
    """A pair as a message."""
    return pb.ItemRevision(item_id=pair.item_id, revision=pair.revision)


def pair_from_wire(message: "pb.ItemRevision | pb.ItemVerdict | pb.AnnouncedItem") -> Pair:
    """The pair that a message names."""
    return Pair(ItemId(message.item_id), Revision(message.revision))


def verdict_to_wire(verdict: Verdict) -> "pb.Verdict":
    """The enum value of a verdict; all five have one (CON-03)."""
    return _VERDICT_TO_WIRE[verdict]


def verdict_from_wire(value: int) -> Verdict | None:
    """A verdict, or None for the unspecified value and for every number this module does not know (CON-03)."""
    return _VERDICT_FROM_WIRE.get(value)


def author_to_wire(author: Author) -> "pb.AuthorKind":
    """The enum value of an author marker."""
    return _AUTHOR_TO_WIRE[author]


def author_from_wire(value: int) -> Author:
    """An author marker; a number this module does not know reads as UNKNOWN, for it decides nothing."""
    return _AUTHOR_FROM_WIRE.get(value, Author.UNKNOWN)


def timestamp_to_wire(moment: datetime | None) -> Timestamp | None:
    """An aware moment as a message, or None for none; the arithmetic of FromDatetime, without its Python."""
    if moment is None:
        return None
    since = moment - _EPOCH
    return Timestamp(seconds=since.days * 86400 + since.seconds, nanos=since.microseconds * 1000)


def authorize_request(subject: Subject, pairs: Iterable[Pair]) -> pb.AuthorizeRequest:
    """One S2 request. The caller keeps to MAX_PAIRS and sends no pair twice (CON-09)."""
    return pb.AuthorizeRequest(subject=subject_to_wire(subject), items=[pair_to_wire(pair) for pair in pairs])


def decode_verdicts(request_pairs: Sequence[Pair], response: pb.AuthorizeResponse) -> dict[Pair, Verdict]:
    """Exactly one recognised verdict per requested pair, or UNKNOWN for all of them (CON-08).

    A missing, doubled, foreign, unspecified or unrecognised entry spoils the whole call: a sibling that is wrong about
    one pair has shown that its answer cannot be relied on for the others. Never raises, and always returns one entry
    per requested pair, so that nothing falls through to omission.
    """
    unknown = dict.fromkeys(request_pairs, Verdict.UNKNOWN)
    # Plain tuples, for a dataclass's hash costs a microsecond and this runs on every search, 256 times a sibling.
    missing = {(pair.item_id, pair.revision): pair for pair in request_pairs}
    found: dict[Pair, Verdict] = {}
    for entry in response.verdicts:
        pair = missing.pop((entry.item_id, entry.revision), None)
        verdict = verdict_from_wire(entry.verdict)
        if pair is None or verdict is None:  # foreign or doubled, or a value we do not know
            return unknown
        found[pair] = verdict
    return unknown if missing else found
