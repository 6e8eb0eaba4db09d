// The reference app's own state, in memory: people, items with their revisions, and the log that the feed tells from.
import { randomUUID } from "node:crypto";

const RUNGS = ["team", "granted", "guest", "link", "private"];

export class Store {
  items = new Map(); // id → {id, prefix, alias, title, rung, granted, removed, log: [{revision, body, tabs, at}]}
  people = new Map(); // address → {prefix, alias}
  log = []; // [{nonce, prefix, itemId, revision, at}]; itemId is null where the run was torn down
  #loaded = new Map(); // prefix → {items, events}
  #counter = 0; // never goes back, not even when a backup does: a revision must not come to mean another text

  // --- runs -----------------------------------------------------------------------------------------------------

  /** These people and items in place of what the prefix held. */
  load(prefix, people, items) {
    this.forget(prefix);
    const addresses = new Map(people.map((person) => [person.alias, person.address]));
    for (const [alias, address] of addresses) this.people.set(address, { prefix, alias });
    for (const entry of items) {
      const tabs = new Map(
        (entry.tabs ?? []).map((tab) => [tab.name, new Map(tab.cells.map((cell) => [place(cell), cell]))]),
      );
      const item = {
        id: randomUUID(),
        prefix,
        alias: entry.alias,
        title: entry.title,
        rung: check(entry.rung),
        granted: new Set(entry.granted.map((alias) => addresses.get(alias))),
        removed: new Set(entry.removed.map((alias) => addresses.get(alias))),
        log: [this.#revision(tabs.size ? "" : entry.body, tabs)],
      };
      this.items.set(item.id, item);
      if (item.rung === "team") this.#tell(item);
    }
    this.#loaded.set(prefix, { items: structuredClone(this.of(prefix)), events: this.#eventsOf(prefix).length });
  }

  /** Nothing of this prefix is left. Its events keep their places, so that nobody's cursor loses its own. */
  forget(prefix) {
    for (const item of this.of(prefix)) this.items.delete(item.id);
    for (const [address, person] of this.people) if (person.prefix === prefix) this.people.delete(address);
    for (const event of this.log) if (event.prefix === prefix) Object.assign(event, { prefix: "", itemId: null });
    this.#loaded.delete(prefix);
  }

  /**
   * The prefix as it was loaded, its part of the log included, as when an operator puts a backup back.
   *
   * What was logged since is gone. Events of others since then get new nonces, or a cursor between them would still be
   * good although what it stands for never was.
   */
  restore(prefix) {
    const loaded = this.#loaded.get(prefix);
    for (const item of this.of(prefix)) this.items.delete(item.id);
    for (const item of structuredClone(loaded.items)) this.items.set(item.id, item);
    const [first] = this.#eventsOf(prefix).slice(loaded.events);
    if (first === undefined) return;
    const others = this.log.splice(first).filter((event) => event.prefix !== prefix);
    this.log.push(...others.map((event) => ({ ...event, nonce: randomUUID() })));
  }

  // --- what people do in the app ----------------------------------------------------------------------------------

  /** A new revision with another text or other cells; returns it. */
  edit(item, body, cells = []) {
    const now = item.log.at(-1);
    const tabs = structuredClone(now.tabs);
    for (const cell of cells) {
      const tab = tabs.get(cell.tab);
      tab.set(place(cell), { format: tab.get(place(cell))?.format ?? "General", ...cell });
    }
    item.log.push(this.#revision(tabs.size ? "" : (body ?? now.body), tabs));
    if (item.rung === "team") this.#tell(item);
    return item.log.at(-1).revision;
  }

  /** Onto another rung; only arriving on the team rung and leaving it are told. */
  move(item, rung) {
    const before = item.rung;
    item.rung = check(rung);
    if (before !== rung && [before, rung].includes("team")) this.#tell(item);
  }

  /** No row any more; told if it stood on the team rung, unless a restore lost it. */
  delete(item, { silently = false } = {}) {
    this.items.delete(item.id);
    if (item.rung === "team" && !silently) this.#tell(item);
  }

  /** Its last `steps` revisions never were; nobody is told. */
  rewind(item, steps) {
    if (!(steps > 0 && steps < item.log.length)) throw new RangeError("the item has not that many revisions");
    item.log.length -= steps;
  }

  // --- look-ups -----------------------------------------------------------------------------------------------------

  /** The items of a prefix. */
  of(prefix) {
    return [...this.items.values()].filter((item) => item.prefix === prefix);
  }

  /** The item that a run calls `alias`. */
  find(prefix, alias) {
    const found = this.of(prefix).find((item) => item.alias === alias);
    if (!found) throw new RangeError("no such item");
    return found;
  }

  /** The address of the person that a run calls `alias`. */
  person(prefix, alias) {
    for (const [address, person] of this.people) {
      if (person.prefix === prefix && person.alias === alias) return address;
    }
    throw new RangeError("no such person");
  }

  /** The item, if it is on the team rung now. */
  onTeam(itemId) {
    const item = this.items.get(itemId);
    return item?.rung === "team" ? item : undefined;
  }

  #eventsOf(prefix) {
    return this.log.flatMap((event, index) => (event.prefix === prefix ? [index] : []));
  }

  #revision(body, tabs) {
    this.#counter += 1;
    return { revision: String(this.#counter), body, tabs, at: new Date() };
  }

  #tell(item) {
    const { revision } = item.log.at(-1);
    this.log.push({ nonce: randomUUID(), prefix: item.prefix, itemId: item.id, revision, at: new Date() });
  }
}

/** The key of a cell in its tab. */
export const place = ({ row, column }) => `${row}:${column}`;

function check(rung) {
  if (!RUNGS.includes(rung)) throw new RangeError("unknown rung");
  return rung;
}
