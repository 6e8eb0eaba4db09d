"""What the Node sibling is installed from: the contract as it is now, pinned packages, no download addresses."""

import json
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from memoria.sibling.v1 import sibling_pb2

NODE = Path(__file__).resolve().parents[3] / "conformance/siblings/node"


def test_the_descriptor_set_is_of_this_contract() -> None:
    """Broken on 2026-11-30 to see red: a field taken out of the set. The command stands in contract.mjs."""
    held = FileDescriptorSet.FromString((NODE / "sibling.binpb").read_bytes())
    files = {file.name: file for file in held.file}
    assert set(files) == {"memoria/sibling/v1/sibling.proto", "google/protobuf/timestamp.proto"}
    theirs, ours = files["memoria/sibling/v1/sibling.proto"], FileDescriptorProto()
    sibling_pb2.DESCRIPTOR.CopyToProto(ours)
    theirs.DiscardUnknownFields()  # buf's own
    for file in (theirs, ours):
        for message in file.message_type:
            for field in message.field:
                field.ClearField("json_name")  # the default, which some write out
    assert theirs == ours


def test_every_package_is_pinned_and_none_names_a_host() -> None:
    """Exact versions, integrity of each, and not one address: a registry is the installer's own choice."""
    wanted = json.loads((NODE / "package.json").read_text())["dependencies"]
    text = (NODE / "package-lock.json").read_text()
    locked = {name.removeprefix("node_modules/"): entry for name, entry in json.loads(text)["packages"].items() if name}
    assert {name: entry["version"] for name, entry in locked.items()} == wanted
    assert all(entry["integrity"].startswith("sha512-") for entry in locked.values())
    assert "://" not in text
    assert "resolved" not in text
    assert "omit-lockfile-registry-resolved=true" in (NODE / ".npmrc").read_text()
