"""Cursors nobody else can make or use, and announces paged from one moment's list (CON-10, CON-11, CON-18)."""

import base64
import binascii
import hashlib
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hmac import compare_digest, digest

from memoria_contract.serve.answers import AnnouncePage, Closing

DEFAULT_TTL = 14 * 24 * 3600.0
"""Seconds a cursor is good for: a consumer that slept longer takes a full announce."""

_MAC = 16  # bytes: 128 bits, as much as nobody guesses
_RUNNING = 4  # announces a consumer can have open: room for one that began again, and no more memory than that


class Cursors:
    """Seals a place in your log as a cursor of one consumer: forged, foreign and stale cursors do not open.

    The payload is signed, not hidden: a place in a log, never a title or a person. Keep `key` (16 random bytes or more)
    with your other secrets; a new key voids every cursor, after which consumers take a full announce. ValueError for a
    short key.
    """

    def __init__(
        self,
        key: bytes,
        *,
        ttl_seconds: float = DEFAULT_TTL,
        now: Callable[[], float] = time.time,
        purpose: str = "cursor",
    ) -> None:
        if len(key) < 16:
            raise ValueError("a cursor key has at least 16 bytes")
        self._key, self._ttl, self._now, self._purpose = key, ttl_seconds, now, purpose
        self._epochs: dict[str, int] = {}

    def make(self, consumer: str, payload: str) -> str:
        """`payload` as a cursor of this consumer, printable ASCII."""
        body = json.dumps([payload, self._now(), self._epochs.get(consumer, 0)]).encode()
        return _encode(self._mac(consumer, body) + body)

    def open(self, consumer: str, cursor: str) -> str | None:
        """The payload, or None where this consumer was never given this cursor, or too long ago. Never raises."""
        try:
            raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        if _encode(raw) != cursor:  # base64 has several spellings of the same bytes; only ours was ever given out
            return None
        mac, body = raw[:_MAC], raw[_MAC:]
        if not compare_digest(mac, self._mac(consumer, body)):
            return None
        payload, made_at, epoch = json.loads(body)  # ours: the seal says so
        age = self._now() - made_at
        return payload if age <= self._ttl and epoch == self._epochs.get(consumer, 0) else None

    def expire(self, consumer: str) -> None:
        """Void the cursors this consumer holds. Of this process only: for a state hook, not for an incident."""
        self._epochs[consumer] = self._epochs.get(consumer, 0) + 1

    def _mac(self, consumer: str, body: bytes) -> bytes:
        # As JSON, so that no purpose and consumer read like another purpose and consumer.
        head = json.dumps([self._purpose, consumer]).encode()
        return digest(self._key, head + body, hashlib.sha256)[:_MAC]


class Announces:
    """Pages an announce out of a list taken at one moment, so that its count is right whatever changes meanwhile.

    The lists are held in this process: where several workers serve one app, keep them where all can read them.
    """

    def __init__(self, key: bytes, *, page_items: int = 500) -> None:
        # Without a time in them, so that a page read twice is the same bytes; an announce ends by being displaced.
        self._tokens = Cursors(key, purpose="announce", now=lambda: 0.0)
        self._page_items = page_items
        self._lock = threading.Lock()
        self._running: dict[str, OrderedDict[str, tuple[tuple[tuple[str, str], ...], str]]] = {}

    def begin(self, consumer: str, items: Iterable[tuple[str, str]], cursor: str) -> AnnouncePage:
        """The first page of a new announce: every (item id, revision) on the team rung now, and the S1 cursor of now.

        Read both in one go: a change between the two would be in neither.
        """
        announce_id = secrets.token_hex(8)
        with self._lock:
            running = self._running.setdefault(consumer, OrderedDict())
            running[announce_id] = (tuple(items), cursor)
            while len(running) > _RUNNING:
                running.popitem(last=False)
        page = self._page(consumer, announce_id, 0)
        assert page is not None
        return page

    def resume(self, consumer: str, page_token: str) -> AnnouncePage | None:
        """The page behind a token, or None where it is of no announce that this consumer has running."""
        payload = self._tokens.open(consumer, page_token)
        if payload is None:
            return None
        announce_id, _, offset = payload.partition(" ")
        return self._page(consumer, announce_id, int(offset))

    def _page(self, consumer: str, announce_id: str, offset: int) -> AnnouncePage | None:
        with self._lock:
            running = self._running.get(consumer)
            held = running.get(announce_id) if running else None
        if held is None:
            return None
        items, cursor = held
        end = offset + self._page_items
        if end >= len(items):
            return AnnouncePage(announce_id, items[offset:], closing=Closing(len(items), cursor))
        token = self._tokens.make(consumer, f"{announce_id} {end}")
        return AnnouncePage(announce_id, items[offset:end], next_page_token=token)


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
