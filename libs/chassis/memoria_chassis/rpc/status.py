"""ServiceError to gRPC status and back. The kinds are gRPC's own codes, so the mapping is by name."""

import grpc

from memoria_chassis.errors import Kind, ServiceError

OURS = ("memoria-error", "1")
"""Trailing metadata that says the message is one of our fixed sentences, and not text a library made up."""

UNKNOWN_CALLER = ("memoria-error", "caller")
"""The same of a caller that is not known."""


_KINDS = {kind.value: kind for kind in Kind}


def code_of(kind: Kind) -> grpc.StatusCode:
    """The gRPC code of a kind."""
    return grpc.StatusCode[kind.value.upper()]


def error_from(failure: grpc.aio.AioRpcError, service: str) -> ServiceError:
    """What a failed call to `service` means here. A library's own text is never passed on."""
    name = failure.code().name.lower()
    kind = _KINDS.get(name, Kind.UNAVAILABLE)
    trailing = {(key, value) for key, value in failure.trailing_metadata() or ()}
    if UNKNOWN_CALLER in trailing:  # as if it could not be reached: who asked us has shown us nothing wrong
        return ServiceError(Kind.UNAVAILABLE, f"{service} does not know this service's token")
    if OURS in trailing:
        return ServiceError(kind, failure.details() or "no reason given")
    if kind is Kind.EXHAUSTED:  # the library's word for a message over its limit: sent again it would be no smaller
        return ServiceError(Kind.TOO_LARGE, f"a message to or from {service} is too large")
    if kind is Kind.DEADLINE:
        return ServiceError(kind, f"{service} did not answer in time")
    return ServiceError(Kind.UNAVAILABLE, f"{service} cannot be reached")
