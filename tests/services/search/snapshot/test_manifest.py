"""The manifest's form: what it says comes back, and nothing else is taken for one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.manifest import File, Manifest, Piece, decode

WHOLE = st.integers(0, 2**53)
NAMES = st.text("abcdef0123456789.", min_size=3, max_size=20)
PIECE_LISTS = st.lists(st.builds(Piece, NAMES, WHOLE, NAMES), max_size=3).map(tuple)
FILES = st.lists(st.builds(File, NAMES.filter(lambda name: name.strip(".")), WHOLE, PIECE_LISTS), max_size=3).map(tuple)
MANIFESTS = st.builds(
    Manifest,
    generation=WHOLE,
    epoch=WHOLE,
    created_at=WHOLE,
    analyser=WHOLE,
    deletions=WHOLE,
    purged=WHOLE,
    unpurged_since=WHOLE,
    last_number=WHOLE,
    numbers=st.frozensets(st.integers(1, 300)),
    meta=st.text(),
    lexical=FILES,
    vectors=FILES,
)


def refused(data: bytes) -> str:
    """The refusal of bytes that are no manifest."""
    with pytest.raises(ServiceError) as caught:
        decode(data)
    assert caught.value.kind is Kind.PRECONDITION
    return caught.value.message


@given(st.binary(max_size=200))
def test_garbage_is_no_manifest(data: bytes) -> None:
    """Any bytes are refused in one sentence, and nothing else is raised."""
    assert refused(data) == "a manifest is not of this version"


@given(MANIFESTS, st.data())
def test_a_manifest_with_a_part_changed_in_kind_is_refused(manifest: Manifest, data: st.DataObject) -> None:
    """Each field missing, or of another kind; and every cut."""
    tree = json.loads(manifest.encode())
    name = data.draw(st.sampled_from(sorted(tree)))
    refused(json.dumps({key: value for key, value in tree.items() if key != name}).encode())
    if name != "meta":  # any value has a spelling
        refused(json.dumps(tree | {name: {"of another": "kind"}}).encode())
    encoded = manifest.encode()
    refused(encoded[: data.draw(st.integers(0, len(encoded) - 1))])


@pytest.mark.parametrize("name", ["../meta.json", "a/b", "", ".", "..", "/etc/passwd", 7])
def test_a_file_cannot_be_named_out_of_its_directory(name: object) -> None:
    """A manifest is ours and authenticated; a name that leads elsewhere is refused all the same."""
    tree = json.loads(Manifest(1, 1, 1, 1, 0, 0, 0, 0, frozenset(), "", (), ()).encode())
    refused(json.dumps(tree | {"lexical": [[name, 1, []]]}).encode())


@given(MANIFESTS)
def test_what_was_written_is_read(manifest: Manifest) -> None:
    """Every field, and runs of numbers with their holes."""
    assert decode(manifest.encode()) == manifest


def test_numbers_are_small() -> None:
    """100,000 documents of which one in fifty is gone: a few bytes each hole, not a few each document."""
    numbers = frozenset(number for number in range(1, 100_001) if number % 50)
    assert len(Manifest(1, 1, 1, 1, 0, 0, 0, 0, numbers, "", (), ()).encode()) < 30_000
