"""The wire mapping, and the total decoder of S2 (CON-01, CON-03, CON-08, G06)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_contract import wire
from memoria_contract.types import Author, ItemId, Pair, Revision, Subject, SubjectKind, Verdict

PAIRS = [Pair(ItemId(f"item-{n}"), Revision("r1")) for n in range(3)]
ALL_UNKNOWN = dict.fromkeys(PAIRS, Verdict.UNKNOWN)


def answer(*entries: tuple[str, str, int]) -> pb.AuthorizeResponse:
    return pb.AuthorizeResponse(verdicts=[pb.ItemVerdict(item_id=i, revision=r, verdict=v) for i, r, v in entries])


def good() -> list[tuple[str, str, int]]:
    return [(pair.item_id, pair.revision, pb.VERDICT_VISIBLE) for pair in PAIRS]


@pytest.mark.parametrize(
    "entries",
    [
        [],
        good()[:2],
        [*good(), good()[0]],
        [*good()[:2], good()[0]],
        [*good(), ("foreign", "r1", 1)],
        [*good()[:2], ("item-2", "r2", 1)],
        [*good()[:2], ("", "", 1)],
        [*good(), ("item-0", "r1", 6)],
        [*good(), ("foreign", "r1", 0)],
        [*good()[:2], ("item-2", "r1", 0)],
        [*good()[:2], ("item-2", "r1", 6)],
        [*good()[:2], ("item-2", "r1", -1)],
        [*good()[:2], ("item-2", "r1", 2_000_000_000)],
    ],
    ids=[
        "empty",
        "short",
        "extra-double",
        "double",
        "foreign",
        "other-revision",
        "blank",
        "double-6",
        "foreign-0",
        "zero",
        "6",
        "-1",
        "huge",
    ],
)
def test_one_bad_entry_makes_the_whole_call_unknown(entries: list[tuple[str, str, int]]) -> None:
    """Missing, doubled, foreign, unspecified, unrecognised: UNKNOWN for every pair.

    Broken on 2026-11-30 to see red: `continue` on an unrecognised value or on a doubled one, the
    reply's length not compared.
    """
    assert set(wire.decode_verdicts(PAIRS, answer(*good())).values()) == {Verdict.VISIBLE}
    assert wire.decode_verdicts(PAIRS, answer(*entries)) == ALL_UNKNOWN


def test_five_values_in_any_order() -> None:
    """Each of the five values arrives as itself, whatever the order of the reply."""
    pairs = [Pair(ItemId(str(n)), Revision("r")) for n in range(1, 6)]
    reply = answer(*[(str(n), "r", n) for n in (3, 1, 5, 2, 4)])
    assert [wire.decode_verdicts(pairs, reply)[pair] for pair in pairs] == [
        Verdict.VISIBLE,
        Verdict.NOT_VISIBLE,
        Verdict.STALE,
        Verdict.AHEAD,
        Verdict.UNKNOWN,
    ]


ids = st.sampled_from(["a", "b", "c", ""])
entries = st.lists(st.tuples(ids, ids, st.integers(-1, 7)), max_size=6)


@given(st.lists(st.builds(Pair, ids, ids), max_size=4, unique=True), entries)
def test_decoder_is_total(pairs: list[Pair], reply: list[tuple[str, str, int]]) -> None:
    """For any reply: one verdict per pair, and anything but UNKNOWN only if the reply was exactly right."""
    decoded = wire.decode_verdicts(pairs, answer(*reply))
    assert list(decoded) == pairs or set(decoded) == set(pairs)
    exact = sorted((i, r) for i, r, _ in reply) == sorted((p.item_id, p.revision) for p in pairs)
    known = all(1 <= value <= 5 for _, _, value in reply)
    if exact and known:
        assert {(p.item_id, p.revision): wire.verdict_to_wire(v) for p, v in decoded.items()} == {
            (i, r): v for i, r, v in reply
        }
    else:
        assert set(decoded.values()) <= {Verdict.UNKNOWN}


@given(st.binary(max_size=200))
def test_decoder_survives_any_bytes_that_parse(body: bytes) -> None:
    """Whatever bytes parse as a reply, the answer covers exactly the pairs asked."""
    message = pb.AuthorizeResponse()
    try:
        message.ParseFromString(body)
    except Exception:
        return
    assert set(wire.decode_verdicts(PAIRS, message)) == set(PAIRS)


@pytest.mark.parametrize(
    "message",
    [
        pb.Subject(),
        pb.Subject(value="ann@example.test"),
        pb.Subject(kind=pb.SUBJECT_KIND_ADDRESS),
        pb.Subject(kind=pb.SUBJECT_KIND_ADDRESS, value="Ann@example.test"),
        pb.Subject(kind=9, value="x"),  # type: ignore[arg-type]  # an open enum on the wire
    ],
)
def test_a_subject_that_is_not_one_reads_as_none(message: pb.Subject) -> None:
    """Nothing is coerced: no kind, no value or an address in upper case is nobody (CON-02)."""
    assert wire.subject_from_wire(message) is None


def test_round_trips() -> None:
    """Subjects, pairs, verdicts and authors come back as they went."""
    for kind, value in ((SubjectKind.ADDRESS, "ann@example.test"), (SubjectKind.PERSON_REF, "P-Ann")):
        subject = Subject(kind, value)
        assert wire.subject_from_wire(wire.subject_to_wire(subject)) == subject
        assert value not in repr(subject)
    for verdict in Verdict:
        assert wire.verdict_from_wire(wire.verdict_to_wire(verdict)) is verdict
    for author in Author:
        assert wire.author_from_wire(wire.author_to_wire(author)) is author
    assert wire.author_from_wire(77) is Author.UNKNOWN
    request = wire.authorize_request(Subject(SubjectKind.ADDRESS, "a@b.test"), PAIRS)
    assert [wire.pair_from_wire(item) for item in request.items] == PAIRS
