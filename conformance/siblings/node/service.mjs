// The six calls, mapped to and from the wire.
import { Code, ConnectError } from "@connectrpc/connect";
import { AggregateFunction, AggregateOutcome, AuthorKind, Call, SubjectKind, Verdict } from "./contract.mjs";
import { MAX_CELLS, MAX_PAIRS } from "./contract.mjs";
import { display } from "./formats.mjs";
import { aggregate, verdict } from "./rulings.mjs";
import { consumerKey, timestamp } from "./serving.mjs";

const NAME_OF_FUNCTION = new Map(Object.entries(AggregateFunction).map(([name, number]) => [number, name]));

export class Sibling {
  #store;
  #feed;
  #origin;

  constructor(store, feed, origin) {
    this.#store = store;
    this.#feed = feed;
    this.#origin = origin;
  }

  /** The implementation of SiblingService, as connect-node wants it. */
  service() {
    const calls = ["describe", "listChanges", "announce", "authorize", "getContent", "aggregate"];
    return Object.fromEntries(calls.map((call) => [call, (request, context) => this[call](request, context)]));
  }

  describe() {
    const calls = Object.values(Call).filter((number) => number > 0);
    return { app: "node", calls, subjectKinds: [SubjectKind.ADDRESS] };
  }

  listChanges(request, context) {
    const found = this.#feed.changes(context.values.get(consumerKey), request.cursor);
    if (!found) return { reannounceRequired: true };
    const rows = found.rows.map(({ at, ...row }) => ({ ...row, touchedAt: timestamp(at) }));
    return { rows, nextCursor: found.nextCursor, hasMore: found.hasMore };
  }

  announce(request, context) {
    const page = this.#feed.announce(context.values.get(consumerKey), request.pageToken);
    if (!page) throw new ConnectError("the announce is not running; start a new one", Code.FailedPrecondition);
    const { id, first, items, closing, nextPageToken } = page;
    return { opening: first ? { announceId: id } : undefined, announceId: id, items, closing, nextPageToken };
  }

  authorize(request) {
    const asked = new Set(request.items.map((item) => JSON.stringify([item.itemId, item.revision])));
    if (request.items.length > MAX_PAIRS) throw new ConnectError("more than 256 pairs", Code.InvalidArgument);
    if (asked.size < request.items.length) throw new ConnectError("a pair is asked twice", Code.InvalidArgument);
    const address = addressOf(request.subject);
    const verdicts = request.items.map(({ itemId, revision }) => {
      const said = address === null ? "UNKNOWN" : verdict(this.#store, address, itemId, revision);
      return { itemId, revision, verdict: Verdict[said] };
    });
    return { verdicts };
  }

  getContent(request) {
    const item = this.#store.onTeam(request.itemId);
    const now = item?.log.at(-1);
    if (!item || !["", now.revision].includes(request.revision)) {
      throw new ConnectError("no such content", Code.NotFound); // the same for every reason, and never a refusal
    }
    const tabs = [...now.tabs].map(([name, cells]) => ({ name, cells: [...cells.values()].map(shown).sort(byPlace) }));
    return {
      revision: now.revision,
      title: item.title,
      trail: ["Node"],
      body: now.body,
      tabs,
      author: AuthorKind.HUMAN,
      date: timestamp(now.at),
      link: `${this.#origin}/items/${item.id}`,
    };
  }

  aggregate(request) {
    const name = NAME_OF_FUNCTION.get(request.function) ?? "UNSPECIFIED";
    const count = request.cells.length;
    if (name === "UNSPECIFIED") throw new ConnectError("unknown function", Code.InvalidArgument);
    if (count < 1 || count > MAX_CELLS) throw new ConnectError("1 to 64 cells", Code.InvalidArgument);
    const address = addressOf(request.subject);
    if (address === null) return { outcome: AggregateOutcome.UNKNOWN };
    const { outcome, ...found } = aggregate(this.#store, address, name, request.cells);
    return { outcome: AggregateOutcome[outcome], ...found };
  }
}

/** The address, or null where the subject is of another kind or no lower-case address: nothing is coerced. */
function addressOf(subject) {
  const proper = subject?.kind === SubjectKind.ADDRESS && subject.value && subject.value === subject.value.toLowerCase();
  return proper ? subject.value : null;
}

function shown(cell) {
  const formatCode = cell.format ?? "General";
  const text = typeof cell.value === "number" ? display(cell.value, formatCode) : String(cell.text);
  return { row: cell.row, column: cell.column, display: text, formatCode };
}

const byPlace = (a, b) => a.row - b.row || a.column - b.column;
