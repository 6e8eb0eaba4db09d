"""S1 and S1a of a demo app: what changed on the team rung since a cursor, and all that stands there now."""

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Any

from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.consumers import Consumers
from memoria_conformance.store import Store


@dataclass(frozen=True, slots=True)
class Change:
    """One row of S1: four facts and no fifth (CON-13). `touched_at` in seconds since 1970."""

    item_id: str
    revision: str
    gone: bool
    touched_at: float


@dataclass(frozen=True, slots=True)
class Changes:
    """A page of S1; None in its place says `reannounce_required`."""

    rows: list[Change]
    next_cursor: str
    has_more: bool


@dataclass(frozen=True, slots=True)
class AnnouncePage:
    """A page of S1a. `closing` is (item_count, cursor) on the last page, where `next_page_token` is empty."""

    announce_id: str
    opening: bool
    items: list[tuple[str, str]]
    closing: tuple[int, str] | None
    next_page_token: str


class Feed:
    """Pages of at most `page_rows` rows, for any number of consumers that do not see one another (CON-18)."""

    def __init__(self, store: Store, consumers: Consumers, page_rows: int = 100) -> None:
        self._store, self._consumers, self._page_rows = store, consumers, page_rows

    def changes(self, consumer: str, cursor: str) -> Changes | None:
        """The latest event of each item after `cursor`, oldest first.

        None where the cursor is forged, another consumer's, of an earlier epoch, past its TTL, ahead of the log, or of
        a log that a restore took back and that has grown another end since (CON-10). An item touched twice is told
        once, at its later place: a row without `gone` says "on the team rung
        now", which an overtaken row would not be.
        """
        after = 0
        if cursor:
            opened = self._open("cursor", consumer, cursor)
            state = self._consumers.state(consumer)
            (last,) = self._store.query("select coalesce(max(seq), 0) from events")[0]
            if opened is None or opened[0] != state.epoch or opened[1] > last:
                return None
            if self._store.now() - opened[2] > state.ttl_seconds or opened[3] != self._mark(opened[1]):
                return None
            after = opened[1]
        rows = self._store.query(
            "select seq, item_id, revision, gone, touched_at from events e where seq > ?1 and seq ="
            " (select max(seq) from events where item_id = e.item_id) order by seq limit ?2",
            after,
            self._page_rows + 1,
        )
        page = rows[: self._page_rows]
        seq = page[-1][0] if page else after
        self._consumers.state(consumer)
        with self._store.transaction() as db:
            db.execute("update consumers set cursor_seq = ? where consumer = ?", (seq, consumer))
        return Changes(
            [Change(item, revision, bool(gone), touched) for _, item, revision, gone, touched in page],
            self._cursor(consumer, seq),
            len(rows) > len(page),
        )

    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        """A page of everything on the team rung as it stood when the announce was opened.

        ServiceError(PRECONDITION) for a page token that is not of a running announce of this consumer.
        """
        if page_token:
            opened = self._open("page", consumer, page_token)
            if opened is None:
                raise ServiceError(Kind.PRECONDITION, "the announce is not running; start a new one")
            announce_id, offset = opened
        else:
            announce_id, offset = self._begin(consumer), 0
        rows = self._store.query(
            "select seq, items from announces where announce_id = ? and consumer = ?", announce_id, consumer
        )
        if not rows:
            raise ServiceError(Kind.PRECONDITION, "the announce is not running; start a new one")
        seq, items = rows[0][0], json.loads(rows[0][1])
        end = offset + self._page_rows
        last = end >= len(items)
        return AnnouncePage(
            announce_id,
            offset == 0,
            [(item_id, revision) for item_id, revision in items[offset:end]],
            (len(items), self._cursor(consumer, seq)) if last else None,
            "" if last else self._seal("page", consumer, [announce_id, end]),
        )

    def _begin(self, consumer: str) -> str:
        announce_id = secrets.token_hex(8)
        with self._store.transaction() as db:
            items = db.execute("select item_id, revision from items where rung = 'team' order by item_id").fetchall()
            (seq,) = db.execute("select coalesce(max(seq), 0) from events").fetchone()
            # Four is room for a consumer that began again; an announce that nobody ends must not stay for good.
            db.execute(
                "delete from announces where consumer = ?1 and rowid not in"
                " (select rowid from announces where consumer = ?1 order by rowid desc limit 3)",
                (consumer,),
            )
            db.execute("insert into announces values (?, ?, ?, ?)", (announce_id, consumer, seq, json.dumps(items)))
        return announce_id

    def _cursor(self, consumer: str, seq: int) -> str:
        state = self._consumers.state(consumer)
        return self._seal("cursor", consumer, [state.epoch, seq, self._store.now(), self._mark(seq)])

    def _mark(self, seq: int) -> str:
        """What tells this event from another that might stand in its place after a restore; "" for the beginning."""
        rows = self._store.query("select item_id, revision, gone, touched_at from events where seq = ?", seq)
        return hashlib.sha256(repr(rows[0]).encode()).hexdigest()[:12] if rows else ""

    def _seal(self, purpose: str, consumer: str, payload: list[Any]) -> str:
        body = json.dumps(payload).encode()
        return base64.urlsafe_b64encode(self._mac(purpose, consumer, body) + body).decode()

    def _open(self, purpose: str, consumer: str, text: str) -> list[Any] | None:
        try:
            raw = base64.urlsafe_b64decode(text.encode())
        except ValueError:
            return None
        mac, body = raw[:16], raw[16:]
        if not hmac.compare_digest(mac, self._mac(purpose, consumer, body)):
            return None
        return json.loads(body)

    def _mac(self, purpose: str, consumer: str, body: bytes) -> bytes:
        message = f"{purpose}\0{consumer}\0".encode() + body
        return hmac.new(self._store.signing_key, message, hashlib.sha256).digest()[:16]
