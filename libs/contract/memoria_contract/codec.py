"""Bodies of the Connect protocol's unary form: messages and errors, binary or JSON, and what the statuses mean."""

import json
from typing import TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from memoria_chassis.errors import Kind, ServiceError

MessageT = TypeVar("MessageT", bound=Message)

PROTO = "application/proto"
JSON = "application/json"
ENCODINGS = {"proto": PROTO, "json": JSON}
"""What a client may choose to speak, by its short name."""

_STATUS = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.REFUSED: 403,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.PRECONDITION: 400,
    Kind.TOO_LARGE: 400,
    Kind.EXHAUSTED: 429,
    Kind.UNIMPLEMENTED: 501,
    Kind.UNAVAILABLE: 503,
    Kind.DEADLINE: 504,
    Kind.INTERNAL: 500,
}
"""HTTP status of each error code (Connect protocol, "Error Codes")."""

_KIND_WITHOUT_BODY = {
    400: Kind.INTERNAL,
    401: Kind.UNAUTHENTICATED,
    403: Kind.REFUSED,
    404: Kind.UNIMPLEMENTED,
    429: Kind.UNAVAILABLE,
    502: Kind.UNAVAILABLE,
    503: Kind.UNAVAILABLE,
    504: Kind.UNAVAILABLE,
}
"""What a status says when no Connect error came with it (Connect protocol, "HTTP to Error Code")."""

_KIND_OF_CODE: dict[str, Kind] = {
    **{kind.value: kind for kind in Kind},
    # Codes of the protocol for which we have no kind of our own: none of them is an answer.
    "canceled": Kind.UNAVAILABLE,
    "unknown": Kind.UNAVAILABLE,
    "aborted": Kind.UNAVAILABLE,
    "data_loss": Kind.INTERNAL,
}


class MalformedBody(Exception):
    """A body that is not the message it should be. Carries nothing of the body."""


def media_type(content_type: str | None) -> str:
    """The type without parameters, lower case; "" where there is none or its charset is not UTF-8."""
    head, _, rest = (content_type or "").partition(";")
    if rest and rest.strip().lower().replace('"', "") != "charset=utf-8":
        return ""
    return head.strip().lower()


def encode(message: Message, content_type: str) -> bytes:
    """A message as bytes of `content_type`, which is PROTO or JSON."""
    if content_type == PROTO:
        return message.SerializeToString()
    return json_format.MessageToJson(message, indent=None).encode()


def decode(message_type: type[MessageT], body: bytes, content_type: str) -> MessageT:
    """The message in `body`, or MalformedBody. Unknown fields are ignored in both encodings, so either end may move.

    Every exception of the parsers is caught, for their set is not closed: json_format lets RecursionError, TypeError
    and UnicodeEncodeError through besides its own.
    """
    message = message_type()
    try:
        if content_type == PROTO:
            message.ParseFromString(body)
        else:
            if not body.lstrip(b" \t\r\n").startswith(b"{"):
                raise ValueError("not an object")  # json_format takes `[]` and `"x"` for an empty message
            json_format.Parse(body.decode("utf-8"), message, ignore_unknown_fields=True, max_recursion_depth=32)
    except Exception:
        raise MalformedBody from None  # the parsers quote the body in their messages (TRU-06)
    return message


def status_of(kind: Kind) -> int:
    """The HTTP status an error of this kind is served with."""
    return _STATUS[kind]


def encode_error(error: ServiceError) -> bytes:
    """`{"code", "message"}`."""
    return json.dumps({"code": error.kind.value, "message": error.message}, ensure_ascii=False).encode()


def error_kind(status: int, content_type: str, body: bytes) -> Kind:
    """What a reply other than 200 means. Its text is never read further than its code.

    Raises MalformedBody where the body claims to be JSON and holds no code of the protocol.
    """
    if content_type != JSON or not body:
        return _KIND_WITHOUT_BODY.get(status, Kind.UNAVAILABLE)
    try:
        code = json.loads(body)["code"]
        return _KIND_OF_CODE[code]
    except Exception:
        raise MalformedBody from None
