"""The deadline of the request being served. It travels with every call and shrinks on the way."""

import time
from contextvars import ContextVar

from memoria_chassis.errors import Kind, ServiceError

HOP = 0.020
"""Seconds kept back at each hop, so that the process nearest to the culprit times out first and can name it."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


def start(seconds: float) -> None:
    """The request being served must be answered within `seconds`."""
    _deadline.set(time.monotonic() + seconds)


def forget() -> None:
    """What runs from here on is not part of the request that started it. First thing in a background task.

    A task inherits the context it was made in, deadline included: work that a request only sets off would find no
    time left as soon as that request is answered.
    """
    _deadline.set(None)


def remaining() -> float | None:
    """Seconds left, or None outside a request. May be negative."""
    deadline = _deadline.get()
    return None if deadline is None else deadline - time.monotonic()


def budget(timeout: float) -> float:
    """Seconds a call made now may take: `timeout`, or less if the request has less left. Raises DEADLINE at zero."""
    left = remaining()
    allowed = timeout if left is None else min(timeout, left - HOP)
    if allowed <= 0:
        raise ServiceError(Kind.DEADLINE, "no time is left to make a call")
    return allowed
