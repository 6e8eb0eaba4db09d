"""What a conversion yields, and how a child says so to its parent."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from memoria_chassis.errors import Kind, ServiceError

TOO_MUCH = "This file needs more memory or time to read than a file may take, and was refused."
BROKEN = "This file could not be read: it is damaged, or not what its name says."

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


@dataclass(frozen=True, slots=True)
class Converted:
    """A file as text with Markdown headings."""

    text: str = field(repr=False)
    title: str = field(default="", repr=False)
    table: bool = False  # rows under one header line
    date: str = ""  # ISO 8601, where the file itself states one
    by_person: bool = False  # the file names a person as its author, as a mail does
    warnings: tuple[str, ...] = ()  # fixed sentences, no content


class Refused(ServiceError):
    """A file that is not taken, with the one sentence its owner sees."""

    def __init__(self, message: str, kind: Kind = Kind.INVALID) -> None:
        super().__init__(kind, message)


def to_bytes(outcome: Converted | ServiceError) -> bytes:
    """One JSON document. Lone surrogates become U+FFFD: they are no text, and UTF-8 does not carry them."""
    if isinstance(outcome, ServiceError):
        tree: dict[str, Any] = {"error": {"kind": outcome.kind.value, "message": outcome.message}}
    else:
        tree = {"converted": asdict(outcome)}
    return json.dumps(tree, ensure_ascii=False).translate(_SURROGATES).encode()


def from_bytes(data: bytes) -> Converted:
    """What the child said. Raises Refused for its refusal, and ValueError for anything it should not have said.

    The child may have been taken over by the file it read, so nothing in here is believed: types are checked, and
    sentences are shown only because they are shown to the person who sent the file.
    """
    tree = json.loads(data)
    if "error" in tree:
        raise Refused(str(tree["error"]["message"])[:300], Kind(tree["error"]["kind"]))
    found = tree["converted"]
    kinds = {"text": str, "title": str, "table": bool, "date": str, "by_person": bool, "warnings": list}
    if set(found) != set(kinds) or any(not isinstance(found[name], kind) for name, kind in kinds.items()):
        raise ValueError("not a conversion")
    warnings = tuple(str(warning)[:300] for warning in found.pop("warnings"))[:20]
    return Converted(**found, warnings=warnings)
