"""The one error type that crosses every hop. Only the gateway turns a kind into a page."""

from enum import StrEnum


class Kind(StrEnum):
    """What went wrong, in the words of the Connect protocol's codes, which are also its wire form."""

    INVALID = "invalid_argument"
    UNAUTHENTICATED = "unauthenticated"
    REFUSED = "permission_denied"
    NOT_FOUND = "not_found"
    CONFLICT = "already_exists"
    PRECONDITION = "failed_precondition"
    TOO_LARGE = "out_of_range"
    EXHAUSTED = "resource_exhausted"
    UNIMPLEMENTED = "unimplemented"
    UNAVAILABLE = "unavailable"
    DEADLINE = "deadline_exceeded"
    INTERNAL = "internal"


class ServiceError(Exception):
    """A failure with a kind and one fixed sentence.

    The sentence is shown to people and written to logs, so it never holds a query, a title, a name, a token or an
    address; sizes, limits and counts are fine.
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message

    def __repr__(self) -> str:
        return f"ServiceError({self.kind.name}, {self.message!r})"
