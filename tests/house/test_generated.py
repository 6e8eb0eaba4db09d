"""The contract moves first: lint, no breaking change against the committed image, no diff in what is generated."""

import subprocess
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = Path(__file__).resolve().parents[2]


def test_proto_is_linted_unbroken_and_generated() -> None:
    """Broken to see red: a field renumbered in sibling.proto; a message edited without `make proto`."""
    ended = subprocess.run(["tools/proto.sh", "check"], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_committed_image_is_of_this_contract() -> None:
    """An image left behind would let a breaking change through; `tools/proto.sh accept` moves it forward."""
    image = FileDescriptorSet.FromString((ROOT / "proto/image.binpb").read_bytes())
    committed = {file.name for file in image.file if file.name.startswith("memoria/")}
    assert committed == {path.relative_to(ROOT / "proto").as_posix() for path in (ROOT / "proto").rglob("*.proto")}
    shapes = {f"{file.package}.{m.name}" for file in image.file for m in file.message_type}
    assert {"memoria.sibling.v1.AggregateRequest", "memoria.home.v1.GetRosterResponse"} <= shapes


def test_no_field_of_a_feed_or_content_request_is_a_person() -> None:
    """S1, S1a and S3 carry no person in any field (CON-12, G25); S1 rows carry four facts and no more (G03)."""
    from memoria.sibling.v1 import sibling_pb2 as pb

    assert [f.name for f in pb.ListChangesRequest.DESCRIPTOR.fields] == ["cursor"]
    assert [f.name for f in pb.AnnounceRequest.DESCRIPTOR.fields] == ["page_token"]
    assert [f.name for f in pb.GetContentRequest.DESCRIPTOR.fields] == ["item_id", "revision"]
    assert [f.name for f in pb.ChangeRow.DESCRIPTOR.fields] == ["item_id", "revision", "gone", "touched_at"]


def test_s2_has_five_values_and_zero_is_unspecified() -> None:
    """CON-03: all five from the first day, 0 reserved."""
    from memoria.sibling.v1 import sibling_pb2 as pb

    values = {value.name.removeprefix("VERDICT_"): value.number for value in pb.Verdict.DESCRIPTOR.values}
    assert values.pop("UNSPECIFIED") == 0
    assert set(values) == {"VISIBLE", "NOT_VISIBLE", "STALE", "AHEAD", "UNKNOWN"}
