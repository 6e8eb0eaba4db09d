// The tiny wiki with a state hook, the door through which the suite sets the scene. For development only.
import { randomUUID } from "node:crypto";
import { listen, siblingServer } from "./serving.mjs";
import { PORT, cursors, service, site, tokens, wiki } from "./tiny.mjs";
import { fromEnvironment } from "./tokens.mjs";

// prefix → {names: the suite's aliases → our page ids and addresses, own: those as a set, pages, events: as loaded}
const runs = new Map();

const verbs = {
  load_world({ prefix, people, items }) {
    verbs.teardown({ prefix });
    const names = Object.fromEntries(people.map((person) => [person.alias, person.address]));
    for (const address of Object.values(names)) wiki.people.add(address);
    for (const { alias, title, rung, removed, body } of items) {
      const page = { id: randomUUID(), title, rung, removed: new Set(removed.map((who) => names[who])), log: [] };
      wiki.pages.set(page.id, page);
      wiki.write(page, body);
      names[alias] = page.id;
    }
    const own = new Set(Object.values(names));
    const pages = structuredClone([...wiki.pages].filter(([id]) => own.has(id)));
    runs.set(prefix, { names, own, pages, events: wiki.feed.filter((event) => own.has(event.pageId)).length });
    return { aliases: names };
  },
  edit: ({ page, body }) => ({ revision: wiki.write(page, body) }),
  move_rung: ({ page, rung }) => wiki.move(page, rung),
  grant() {}, // a grant never brings a page to memoria, and this wiki shows its pages to nobody else
  revoke() {},
  remove_person: ({ page, person }) => void page.removed.add(person),
  restore_person: ({ page, person }) => void page.removed.delete(person),
  delete: ({ page }) => wiki.delete(page),
  partial_restore({ page, steps, lose }) {
    if (lose) wiki.pages.delete(page.id);
    else page.log.length -= steps;
  },
  restore_to({ prefix }) {
    const { own, pages, events } = runs.get(prefix);
    for (const id of own) wiki.pages.delete(id);
    for (const [id, page] of structuredClone(pages)) wiki.pages.set(id, page);
    const lost = new Set(wiki.feed.filter((event) => own.has(event.pageId)).slice(events));
    const first = wiki.feed.findIndex((event) => lost.has(event));
    // What others logged since the first lost event gets new ids: a cursor there has seen what now never was.
    const kept = wiki.feed.map((event, at) => (first >= 0 && at > first ? { ...event, id: randomUUID() } : event));
    wiki.feed = kept.filter((_, at) => !lost.has(wiki.feed[at]));
  },
  expire_cursor: ({ consumer }) => cursors.expire(consumer),
  add_token: ({ consumer, scope, token }) => tokens.add(consumer, scope, token),
  retire_tokens: ({ consumer, scope, keep }) => tokens.retire(consumer, scope, keep),
  teardown({ prefix }) {
    const own = runs.get(prefix)?.own ?? new Set();
    for (const name of own) wiki.pages.delete(name) || wiki.people.delete(name);
    wiki.feed = wiki.feed.filter((event) => !own.has(event.pageId));
    runs.delete(prefix);
  },
};

/** Carry out one request; null for a verb that we do not have. What is not of its prefix stays as it is. */
function state({ state: verb, params }) {
  if (!Object.hasOwn(verbs, verb)) return null;
  const names = runs.get(params.prefix)?.names ?? {};
  return verbs[verb]({ ...params, page: wiki.pages.get(names[params.item]), person: names[params.person] }) ?? {};
}

const stateToken = fromEnvironment("MEMORIA_STATE_TOKEN");
listen(siblingServer({ service, tokens, state, stateToken, other: site }), PORT);
