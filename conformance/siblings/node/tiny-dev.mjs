// The tiny wiki with a state hook, the door through which the suite sets the scene. For development only.
import { randomUUID } from "node:crypto";
import { listen, siblingServer } from "./serving.mjs";
import { PORT, cursors, service, tokens, wiki } from "./tiny.mjs";

let names = {}; // the suite's aliases → our page ids and addresses
let loaded; // how pages and feed stood right after `load_world`

const verbs = {
  load_world({ people, items }) {
    verbs.teardown();
    names = Object.fromEntries(people.map((person) => [person.alias, person.address]));
    wiki.people = new Set(Object.values(names));
    for (const { alias, title, rung, removed, body } of items) {
      const page = { id: randomUUID(), title, rung, removed: new Set(removed.map((who) => names[who])), log: [] };
      wiki.pages.set(page.id, page);
      wiki.write(page, body);
      names[alias] = page.id;
    }
    loaded = structuredClone({ pages: wiki.pages, feed: wiki.feed });
    return { aliases: names };
  },
  edit: ({ page, body }) => ({ revision: wiki.write(page, body) }),
  move_rung: ({ page, rung }) => wiki.move(page, rung),
  grant() {}, // a grant never brings a page to memoria, and this wiki shows its pages to nobody else
  revoke() {},
  remove_person: ({ page, person }) => void page.removed.add(names[person]),
  restore_person: ({ page, person }) => void page.removed.delete(names[person]),
  delete: ({ page }) => wiki.delete(page),
  partial_restore({ page, steps, lose }) {
    if (lose) wiki.pages.delete(page.id);
    else page.log.length -= steps;
  },
  restore_to: () => void Object.assign(wiki, structuredClone(loaded)),
  expire_cursor: ({ consumer }) => cursors.expire(consumer),
  add_token: ({ consumer, scope, token }) => tokens.add(consumer, scope, token),
  retire_tokens: ({ consumer, scope, keep }) => tokens.retire(consumer, scope, keep),
  teardown: () => void Object.assign(wiki, { people: new Set(), pages: new Map(), feed: [] }),
};

/** Carry out one request; null for a verb that we do not have. This wiki holds one world, and overlooks the prefix. */
function state({ state: verb, params }) {
  if (!Object.hasOwn(verbs, verb)) return null;
  return verbs[verb]({ ...params, page: wiki.pages.get(names[params.item]) }) ?? {};
}

listen(siblingServer({ service, tokens, state, stateToken: process.env.MEMORIA_STATE_TOKEN }), PORT);
