"""Failures at the bucket: that another instance has it ends this process, any other one may be got over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memoria_chassis import log
from memoria_chassis.errors import ServiceError
from memoria_search.snapshot.fence import FencedError


@contextmanager
def ending(give_up: Callable[[], None]) -> Iterator[None]:
    """Calls `give_up` where another instance turns out to have the bucket, and raises FencedError on."""
    try:
        yield
    except FencedError:
        give_up()
        raise


@contextmanager
def tolerating(event: str) -> Iterator[None]:
    """Logs a failure as `event`, with its kind, and goes on behind the block. Raises FencedError, which is never got
    over, and whatever is no ServiceError."""
    try:
        yield
    except FencedError:
        raise
    except ServiceError as error:
        log.get_logger().warning(event, kind=error.kind.value)
