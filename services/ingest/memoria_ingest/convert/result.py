"""What a conversion yields, and how a child says so to its parent."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from memoria_chassis.errors import Kind, ServiceError

TOO_MUCH = "This file needs more memory or time to read than a file may take, and was refused."
BROKEN = "This file could not be read: it is damaged, or not what its name says."

OUT_OF_MEMORY = 70
"""A child's exit code that says the memory limit was met (EX_SOFTWARE; no library here exits with it)."""

_REFUSALS = frozenset({Kind.INVALID, Kind.TOO_LARGE, Kind.EXHAUSTED, Kind.UNIMPLEMENTED})

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
    return _text(json.dumps(tree, ensure_ascii=False)).encode()


def from_bytes(data: bytes) -> Converted:
    """What the child said. Raises Refused for its refusal, and ValueError for anything it should not have said.

    The child may have been taken over by the file it read, so nothing in here is believed: types are checked, kinds
    are those of a refusal, and sentences are shown only because they are shown to the person who sent the file.
    """
    try:
        tree = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(tree, dict):
        raise ValueError("not an object")
    if "error" in tree:
        kind = Kind(tree["error"]["kind"])
        if kind not in _REFUSALS:
            raise ValueError("not a refusal")
        raise Refused(_sentence(tree["error"]["message"]), kind)
    found = tree["converted"]
    kinds = {"text": str, "title": str, "table": bool, "date": str, "by_person": bool, "warnings": list}
    if set(found) != set(kinds) or any(not isinstance(found[name], kind) for name, kind in kinds.items()):
        raise ValueError("not a conversion")
    warnings = tuple(_sentence(warning) for warning in found.pop("warnings")[:20])
    # `\ud800` is fine JSON and no text: our own child does not send it, and protobuf does not carry it.
    found["text"], found["title"] = _text(found["text"]), _text(found["title"])
    return Converted(**found, warnings=warnings)


def _text(text: str) -> str:
    try:
        text.encode()  # many times faster than a translation, and nearly always all there is to do
    except UnicodeEncodeError:
        return text.translate(_SURROGATES)
    return text


def _sentence(text: object) -> str:
    if not isinstance(text, str):
        raise ValueError("not a sentence")
    return " ".join(_text(text[:300]).split())
