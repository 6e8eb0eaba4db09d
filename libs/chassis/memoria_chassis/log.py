"""Structured logs, one JSON line each on stderr, that cannot carry content.

Two rules make it so (TRU-06). A field that is not on the allow-list is dropped, whatever it holds. A library's own
records, and exceptions, are reduced to where they came from and what type they were: their messages may quote a body.
"""

import logging
import sys
import threading
import traceback
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any

import structlog

ALLOWED_FIELDS = frozenset(
    {"event", "level", "timestamp", "service", "version", "logger", "exception", "frames", "dropped"}  # where and when
    | {"method", "caller", "app", "id", "pid", "port"}  # who and which
    | {"kind", "code", "state", "reason", "count", "duration_ms", "size", "attempt"}  # what came of it
)
"""Everything a log line may hold: ids, counts, durations, kinds."""

_MAX_VALUE = 120  # an id, a kind or a sentence of ours is shorter; a passage is not


def _exception_fields(info: tuple[type[BaseException], BaseException | None, TracebackType | None]) -> dict[str, Any]:
    frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(info[2])[-8:]]
    return {"exception": info[0].__name__, "frames": " < ".join(reversed(frames))}


def _allow(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    elif isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    kept: dict[str, Any] = {}
    dropped = 0
    for name, value in event.items():
        if name not in ALLOWED_FIELDS:
            dropped += 1
        elif isinstance(value, bool | int | float) or value is None:
            kept[name] = value
        else:
            kept[name] = str(value)[:_MAX_VALUE] if name != "frames" else str(value)
    if dropped:
        kept["dropped"] = dropped
    if info and info[0]:
        kept.update(_exception_fields(info))
    return kept


class _LibraryHandler(logging.Handler):
    """Turns a library's record into its logger's name, level and exception type. Its message is not kept."""

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = {"logger": record.name}
        if record.exc_info and record.exc_info[0] and record.exc_info[1]:
            fields |= _exception_fields((record.exc_info[0], record.exc_info[1], record.exc_info[2]))
        get_logger().log(record.levelno, "library record", **fields)


def configure(service: str) -> None:
    """Set up logging for this process. Called once, first thing in a recipe."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _allow,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.bind_contextvars(service=service)
    logging.root.handlers = [_LibraryHandler()]
    logging.root.setLevel(logging.WARNING)
    logging.captureWarnings(True)
    # The three places where Python itself would print an exception, message and all.
    sys.excepthook = _excepthook
    threading.excepthook = lambda args: _log_uncaught((args.exc_type, args.exc_value, args.exc_traceback))
    sys.unraisablehook = lambda args: _log_uncaught((args.exc_type, args.exc_value, args.exc_traceback))


def _excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _log_uncaught((kind, error, trace))


def _log_uncaught(info: tuple[type[BaseException], BaseException | None, TracebackType | None]) -> None:
    get_logger().error("uncaught exception", exc_info=info)


def get_logger() -> Any:
    """The logger. Its first argument is a fixed sentence; everything that varies goes into an allowed field."""
    return structlog.get_logger()
