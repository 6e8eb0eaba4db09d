// A tiny wiki that is a sibling of memoria: pages in memory, and its half of the contract.
import { randomBytes, randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { AuthorKind, Call, MAX_PAIRS, SubjectKind, Verdict } from "./contract.mjs";
import { Cursors } from "./cursors.mjs";
import { consumerKey, timestamp } from "./serving.mjs";
import { Tokens, fromEnvironment } from "./tokens.mjs";

export const PORT = Number(process.env.PORT ?? 9000);
const PAGE_ITEMS = 100; // items in one page of an announce

// --- the wiki -------------------------------------------------------------------------------------------------------

/** What the wiki knows, and what people do in it. A real one has a database and pages to look at. */
class Wiki {
  people = new Set(); // the team, by lower-case address
  pages = new Map(); // id → {id, title, rung, removed: Set of addresses, log: [{revision, body, at}]}
  feed = []; // [{id, pageId, revision, at}]: a page came to the team rung, changed there, or left it

  /** A new version; returns its revision. Any text will do: memoria compares revisions for equality and nothing else. */
  write(page, body) {
    page.log.push({ revision: randomUUID(), body, at: new Date() });
    if (page.rung === "team") this.tell(page);
    return page.log.at(-1).revision;
  }

  /** To another rung. Only coming to the team rung and leaving it concern the feed. */
  move(page, rung) {
    const before = page.rung;
    page.rung = rung;
    if (before !== rung && [before, rung].includes("team")) this.tell(page);
  }

  /** A page that stood on the team rung is gone in the feed too. */
  delete(page) {
    this.move(page, "deleted");
    this.pages.delete(page.id);
  }

  /** The page, if it is on the team rung now. The feed, content and announces know no other. */
  onTeam(pageId) {
    const page = this.pages.get(pageId);
    return page?.rung === "team" ? page : undefined;
  }

  tell(page) {
    this.feed.push({ id: randomUUID(), pageId: page.id, revision: page.log.at(-1).revision, at: new Date() });
  }
}

export const wiki = new Wiki();
export const cursors = new Cursors(randomBytes(32)); // a real app keeps its key; with a new one consumers start anew
export const tokens = new Tokens(); // the same goes for `tokens.hashes`
tokens.add("first", "pull", fromEnvironment("MEMORIA_PULL_TOKEN"));
tokens.add("first", "ask", fromEnvironment("MEMORIA_ASK_TOKEN"));
const announces = new Map(); // id → {items, cursor, madeAt}

/** The rest of the site, an Express app or the like. One answer for every id: only its readers may know of a page. */
export function site(req, res) {
  res.writeHead(200, { "Content-Type": "text/plain" }).end("People would sign in to the wiki here.\n");
}

// --- its half of the contract ---------------------------------------------------------------------------------------

export const service = {
  describe: () => ({
    app: "wiki",
    calls: [Call.LIST_CHANGES, Call.ANNOUNCE, Call.AUTHORIZE, Call.GET_CONTENT],
    subjectKinds: [SubjectKind.ADDRESS],
  }),

  /** S1: each page that changed after the cursor, once, as it is now. */
  listChanges({ cursor }, context) {
    const consumer = context.values.get(consumerKey);
    const ids = ["", ...wiki.feed.map((event) => event.id)];
    const place = ids.indexOf(cursor ? cursors.open("cursor", consumer, cursor) : "");
    // Forged, somebody else's, too old, or of a feed that a backup took back.
    if (place < 0) return { reannounceRequired: true };
    const latest = new Map();
    for (const event of wiki.feed.slice(place)) {
      latest.delete(event.pageId); // so that it moves to its later place
      latest.set(event.pageId, event);
    }
    const rows = [...latest.values()].map((event) => {
      const page = wiki.onTeam(event.pageId);
      const revision = page ? page.log.at(-1).revision : event.revision;
      return { itemId: event.pageId, revision, gone: !page, touchedAt: timestamp(event.at) };
    });
    return { rows, nextCursor: cursors.make("cursor", consumer, ids.at(-1)) };
  },

  /** S1a: everything on the team rung at one moment, in pages, and the cursor of that moment. */
  announce({ pageToken }, context) {
    const consumer = context.values.get(consumerKey);
    const { id, start } = pageToken ? (cursors.open("page", consumer, pageToken) ?? {}) : begin(consumer);
    const running = announces.get(id);
    if (!running) throw new ConnectError("the announce is not running; start a new one", Code.FailedPrecondition);
    const end = start + PAGE_ITEMS;
    const last = end >= running.items.length;
    return {
      opening: start === 0 ? { announceId: id } : undefined,
      announceId: id,
      items: running.items.slice(start, end),
      closing: last ? { itemCount: running.items.length, cursor: running.cursor } : undefined,
      nextPageToken: last ? "" : cursors.make("page", consumer, { id, start: end }, running.madeAt),
    };
  },

  /** S2: may this person read these revisions, right now? */
  authorize({ subject, items }) {
    const distinct = new Set(items.map((item) => JSON.stringify([item.itemId, item.revision])));
    if (items.length > MAX_PAIRS || distinct.size < items.length) {
      throw new ConnectError("at most 256 pairs, and none twice", Code.InvalidArgument);
    }
    return { verdicts: items.map((item) => ({ ...pair(item), verdict: Verdict[verdict(subject, item)] })) };
  },

  /** S3: the current text of a team page. Everything else is `not_found`, whatever the reason. */
  getContent({ itemId, revision }) {
    const page = wiki.onTeam(itemId);
    const now = page?.log.at(-1);
    if (!page || !["", now.revision].includes(revision)) throw new ConnectError("no such content", Code.NotFound);
    return {
      revision: now.revision,
      title: page.title,
      body: now.body,
      author: AuthorKind.HUMAN,
      date: timestamp(now.at),
      link: `http://localhost:${PORT}/items/${page.id}`,
    };
  },
};

/** The answer for one pair. The order of the questions matters: any other order gives something away. */
function verdict(subject, { itemId, revision }) {
  const proper = subject?.kind === SubjectKind.ADDRESS && subject.value && subject.value === subject.value.toLowerCase();
  if (!proper) return "UNKNOWN"; // people are known by address here, and nothing else is read as one
  const page = wiki.onTeam(itemId);
  if (!page || !wiki.people.has(subject.value) || page.removed.has(subject.value)) return "NOT_VISIBLE";
  if (revision === page.log.at(-1).revision) return "VISIBLE";
  return page.log.some((known) => known.revision === revision) ? "STALE" : "AHEAD";
}

const pair = ({ itemId, revision }) => ({ itemId, revision });

function begin(consumer) {
  const items = [...wiki.pages.values()].filter((page) => page.rung === "team");
  const id = randomUUID();
  announces.set(id, {
    items: items.map((page) => ({ itemId: page.id, revision: page.log.at(-1).revision })),
    cursor: cursors.make("cursor", consumer, wiki.feed.at(-1)?.id ?? ""),
    madeAt: Date.now(),
  });
  if (announces.size > 16) announces.delete(announces.keys().next().value); // one that nobody ends must not stay
  return { id, start: 0 };
}
