// S1 and S1a: what changed since a cursor, and all that is on the team rung.
import { randomUUID } from "node:crypto";

const RUNNING = 16; // announces held at once; one that nobody ends is displaced in the end

export class Feed {
  #store;
  #cursors;
  #pageRows;
  #running = []; // {id, consumer, items, cursor, madeAt}

  constructor(store, cursors, pageRows = 50) {
    this.#store = store;
    this.#cursors = cursors;
    this.#pageRows = pageRows;
  }

  /**
   * {rows, nextCursor, hasMore}, or null for `reannounce_required`.
   *
   * An item is told once, at its latest place, and as it stands now: a row without `gone` says that the item is on the
   * team rung, which what was true at an earlier place need not be any more.
   */
  changes(consumer, cursor) {
    const { log } = this.#store;
    let start = 0;
    if (cursor) {
      const opened = this.#cursors.open("cursor", consumer, cursor);
      // A log that was put back may be as long again as before: the nonce says whether it is the same log.
      if (opened === null || (opened.at > 0 && log[opened.at - 1]?.nonce !== opened.nonce)) return null;
      start = opened.at;
    }
    const latest = new Map();
    log.forEach((event, index) => {
      if (index >= start && event.itemId !== null) latest.set(event.itemId, index);
    });
    const places = [...latest.values()].sort((a, b) => a - b);
    const page = places.slice(0, this.#pageRows);
    const hasMore = places.length > page.length;
    const rows = page.map((index) => {
      const event = log[index];
      const item = this.#store.onTeam(event.itemId);
      // The revision of a `gone` row is that of its event: what a private item has come to since is not told.
      const revision = item ? item.log.at(-1).revision : event.revision;
      return { itemId: event.itemId, revision, gone: !item, at: event.at };
    });
    return { rows, nextCursor: this.#cursor(consumer, hasMore ? page.at(-1) + 1 : log.length), hasMore };
  }

  /** {id, first, items, closing, nextPageToken}, or null for a token that opens no announce of this consumer. */
  announce(consumer, pageToken) {
    const { id, start } = pageToken
      ? (this.#cursors.open("page", consumer, pageToken) ?? {})
      : { id: this.#begin(consumer), start: 0 };
    const running = this.#running.find((one) => one.id === id && one.consumer === consumer);
    if (!running) return null;
    const end = Math.min(start + this.#pageRows, running.items.length);
    const last = end === running.items.length;
    return {
      id,
      first: start === 0,
      items: running.items.slice(start, end),
      closing: last ? { itemCount: running.items.length, cursor: running.cursor } : undefined,
      // With the announce's own time, so that a page read twice is the same.
      nextPageToken: last ? "" : this.#cursors.make("page", consumer, { id, start: end }, running.madeAt),
    };
  }

  /** An announce is of one moment, whatever changes while it is read; the feed goes on from that moment. */
  #begin(consumer) {
    const items = [...this.#store.items.values()]
      .filter((item) => item.rung === "team")
      .map((item) => ({ itemId: item.id, revision: item.log.at(-1).revision }));
    const id = randomUUID();
    const cursor = this.#cursor(consumer, this.#store.log.length);
    this.#running.push({ id, consumer, items, cursor, madeAt: Date.now() });
    if (this.#running.length > RUNNING) this.#running.shift();
    return id;
  }

  #cursor(consumer, at) {
    return this.#cursors.make("cursor", consumer, { at, nonce: this.#store.log[at - 1]?.nonce ?? "" });
  }
}
