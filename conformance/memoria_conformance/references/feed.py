"""S1 and S1a of the reference app: what changed since a cursor, and all that is on the team rung."""

import base64
import datetime as dt
import hashlib
import hmac
import json
import secrets
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from memoria_conformance.references.store import TEAM, Store

TTL = 14 * 24 * 3600.0
"""Seconds a cursor is good for."""


@dataclass(frozen=True, slots=True)
class Row:
    """One change, with its four facts."""

    item_id: str
    revision: str
    gone: bool
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class Running:
    """An announce of one consumer: what stood on the team rung when it was begun, and the cursor of that moment."""

    id: str
    consumer: str
    items: tuple[tuple[str, str], ...]
    cursor: str


class Feed:
    """Pages of at most `page_rows`, for consumers that share the log and nothing else."""

    def __init__(self, store: Store, page_rows: int = 50) -> None:
        self._store, self._page_rows = store, page_rows
        self._key = secrets.token_bytes(32)
        self._epochs: dict[str, int] = {}
        self._running: deque[Running] = deque(maxlen=16)  # an announce nobody ends is displaced in the end

    def changes(self, consumer: str, cursor: str) -> tuple[list[Row], str, bool] | None:
        """(rows, next cursor, more wait), or None for `reannounce_required`.

        An item is told once, at its latest place, and as it stands now: a row without `gone` says that the item is on
        the team rung, which what was true at an earlier place need not be any more.
        """
        start, at = 0, ""
        if cursor:
            opened = self._open("cursor", consumer, cursor)
            if opened is None:
                return None
            at, made, epoch = opened
            found = self._store.place(at) if at else 0
            if found is None or epoch != self._epochs.get(consumer, 0) or time.time() - made > TTL:
                return None
            start = found
        latest = {event.item_id: event for event in self._store.log[start:] if event.item_id is not None}
        events = sorted(latest.values(), key=lambda event: event.id)
        page = events[: self._page_rows]
        more = len(events) > len(page)
        rows = []
        for event in page:
            item = self._store.on_team(event.item_id or "")
            # The revision of a `gone` row is that of its event: what a private item has come to since is not told.
            revision = event.revision if item is None else item.current.id
            rows.append(Row(event.item_id or "", revision, item is None, event.at))
        if more:
            at = page[-1].id
        elif self._store.log[start:]:
            at = self._store.log[-1].id
        return rows, self._cursor(consumer, at), more

    def announce(self, consumer: str, page_token: str) -> tuple[Running, int, int, str] | None:
        """(the announce, from, to, next page token; "" on the last page), or None for a token that opens nothing."""
        if page_token:
            opened = self._open("page", consumer, page_token)
            announce_id, start = opened if opened is not None else ("", 0)
            running = next((r for r in self._running if (r.id, r.consumer) == (announce_id, consumer)), None)
            if running is None:
                return None
        else:
            items = ((i.id, i.current.id) for i in self._store.items.values() if i.rung == TEAM)
            last = self._store.log[-1].id if self._store.log else ""
            running = Running(secrets.token_hex(8), consumer, tuple(items), self._cursor(consumer, last))
            self._running.append(running)
            start = 0
        end = min(start + self._page_rows, len(running.items))
        last_page = end == len(running.items)
        return running, start, end, "" if last_page else self._seal("page", consumer, [running.id, end])

    def expire(self, consumer: str) -> None:
        """Let the cursors of one consumer run past their time."""
        self._epochs[consumer] = self._epochs.get(consumer, 0) + 1

    def _cursor(self, consumer: str, event_id: str) -> str:
        return self._seal("cursor", consumer, [event_id, time.time(), self._epochs.get(consumer, 0)])

    def _seal(self, purpose: str, consumer: str, payload: list[Any]) -> str:
        body = json.dumps([purpose, consumer, payload]).encode()
        return base64.b32encode(self._mac(body) + body).decode().rstrip("=").lower()

    def _open(self, purpose: str, consumer: str, text: str) -> list[Any] | None:
        try:
            raw = base64.b32decode(text.upper().encode() + b"=" * (-len(text) % 8))
        except ValueError:
            return None
        mac, body = raw[:32], raw[32:]
        if not hmac.compare_digest(mac, self._mac(body)):
            return None
        for_purpose, for_consumer, payload = json.loads(body)
        again = self._seal(for_purpose, for_consumer, payload) == text  # no second spelling of the same cursor
        return payload if again and (for_purpose, for_consumer) == (purpose, consumer) else None

    def _mac(self, body: bytes) -> bytes:
        return hmac.new(self._key, body, hashlib.sha256).digest()
