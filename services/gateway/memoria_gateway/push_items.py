"""What a program pushes to its connector: JSON, read strictly; a refusal names the field and repeats nothing of it."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.limits import LINK_LENGTH, MAX_ITEM_TEXT, NAME_LENGTH, usable_link, usable_name

MAX_ITEMS = 100
MAX_BODY = 8 * 1024 * 1024
"""Bytes of a request: a text of the full size with every character escaped, and room."""

BODY_TOO_LARGE = f"A request may have {MAX_BODY // 1024 // 1024} MiB; push fewer items at once."
MAX_LINE = 300
MAX_STEPS = 8
_FIELDS = ("external_id", "title", "trail", "text", "date", "link", "gone")


@dataclass(frozen=True, slots=True)
class PushedItem:
    """One item as it was pushed; with `gone`, its id alone counts."""

    external_id: str = field(repr=False)
    title: str = field(default="", repr=False)
    trail: tuple[str, ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    date: datetime | None = None
    link: str = field(default="", repr=False)
    gone: bool = False


def read_items(body: bytes) -> list[PushedItem]:
    """The items of a request, all of them valid. Raises INVALID or TOO_LARGE for the first that is not."""
    try:
        document = json.loads(body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # from None: what was wrong with the text would quote it in a trace
        raise ServiceError(Kind.INVALID, "The body is not JSON in UTF-8 with each name once.") from None
    if not isinstance(document, dict) or set(document) != {"items"} or not isinstance(document["items"], list):
        raise ServiceError(Kind.INVALID, 'The body is an object with one field, "items", which is a list.')
    items = document["items"]
    if not items:
        raise ServiceError(Kind.INVALID, "items is empty.")
    if len(items) > MAX_ITEMS:
        raise ServiceError(Kind.TOO_LARGE, f"items has more than {MAX_ITEMS} items; push fewer at once.")
    return [_item(value, f"items[{index}]") for index, value in enumerate(items)]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _no_constant(_: str) -> NoReturn:
    raise ValueError


def _item(value: Any, where: str) -> PushedItem:
    if not isinstance(value, dict):
        raise _wrong(where, "is no object")
    if not set(value) <= set(_FIELDS):
        raise _wrong(where, f"has a field that is none of {', '.join(_FIELDS)}")
    given = {name: each for name, each in value.items() if each is not None}
    if "external_id" not in given:
        raise _wrong(f"{where}.external_id", "is missing")
    external_id = _text(given["external_id"], f"{where}.external_id")
    if not usable_name(external_id):
        raise _wrong(f"{where}.external_id", f"has 1 to {NAME_LENGTH} characters, none of them NUL")
    gone = given.get("gone", False)
    if not isinstance(gone, bool):
        raise _wrong(f"{where}.gone", "is true or false")
    if gone:
        return PushedItem(external_id, gone=True)
    for name in ("title", "text"):
        if name not in given:
            raise _wrong(f"{where}.{name}", "is missing")
    return PushedItem(
        external_id,
        _line(given["title"], f"{where}.title"),
        _trail(given.get("trail", []), f"{where}.trail"),
        _body(given["text"], f"{where}.text"),
        _date(given["date"], f"{where}.date") if "date" in given else None,
        _link(given.get("link", ""), f"{where}.link"),
    )


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, "is no string")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise _wrong(where, "has half a character: a surrogate that stands alone")
    return value


def _line(value: Any, where: str) -> str:
    text = _text(value, where)
    if not text.strip() or len(text) > MAX_LINE:
        raise _wrong(where, f"has 1 to {MAX_LINE} characters that are not all blank")
    return text


def _trail(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_STEPS:
        raise _wrong(where, f"is a list of at most {MAX_STEPS} steps")
    return tuple(_line(step, f"{where}[{number}]") for number, step in enumerate(value))


def _body(value: Any, where: str) -> str:
    text = _text(value, where)
    if len(text.encode()) > MAX_ITEM_TEXT:
        raise ServiceError(
            Kind.TOO_LARGE, f"{where} is larger than {MAX_ITEM_TEXT // 1024 // 1024} MiB, the most an item may have."
        )
    if not text.strip():
        raise _wrong(where, "is blank")
    return text


def _date(value: Any, where: str) -> datetime:
    text = _text(value, where)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise _wrong(where, "is no date as in 2026-05-01 or 2026-05-01T12:30:00Z") from None
    if not 1 < moment.year < 9999:
        raise _wrong(where, "is outside of the years that memoria keeps")
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _link(value: Any, where: str) -> str:
    text = _text(value, where)
    if text and not usable_link(text):
        raise _wrong(where, f"is no address of at most {LINK_LENGTH} characters that begins with http:// or https://")
    return text


def _wrong(where: str, what: str) -> ServiceError:
    return ServiceError(Kind.INVALID, f"{where} {what}.")
