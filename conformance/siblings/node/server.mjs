// A sibling on connect-node: `node server.mjs --port 9202`. Tokens come from MEMORIA_SIBLING_PULL_TOKEN, _ASK_TOKEN
// and _STATE_TOKEN; without the last one there is no state hook.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { Cursors } from "./cursors.mjs";
import { Feed } from "./feed.mjs";
import { Sibling } from "./service.mjs";
import { listen, siblingServer } from "./serving.mjs";
import { stateHook } from "./state.mjs";
import { Store } from "./store.mjs";
import { Tokens, fromEnvironment } from "./tokens.mjs";

const { values } = parseArgs({ options: { port: { type: "string", default: "9202" } } });
const store = new Store();
const cursors = new Cursors(randomBytes(32));
const tokens = new Tokens();
tokens.add("first", "pull", fromEnvironment("MEMORIA_SIBLING_PULL_TOKEN"));
tokens.add("first", "ask", fromEnvironment("MEMORIA_SIBLING_ASK_TOKEN"));
const sibling = new Sibling(store, new Feed(store, cursors), `http://localhost:${values.port}`);
const state = stateHook(store, cursors, tokens);
const stateToken = process.env.MEMORIA_SIBLING_STATE_TOKEN;
const server = siblingServer({ service: sibling.service(), tokens, state, stateToken, other: itemPage });
listen(server, Number(values.port));

function itemPage(req, res) {
  // The same for every id: whether an item exists is for its readers to know.
  const page = req.url.startsWith("/items/");
  res.writeHead(page ? 200 : 404, { "Content-Type": "text/plain" });
  res.end(page ? "To open an item you would sign in to the app here.\n" : "");
}
