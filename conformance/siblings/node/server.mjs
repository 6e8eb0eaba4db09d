// A sibling on connect-node: `node server.mjs --port 9202`. Tokens come from MEMORIA_SIBLING_PULL_TOKEN, _ASK_TOKEN
// and _STATE_TOKEN; without the last one there is no state hook.
import { parseArgs } from "node:util";
import { Cursors } from "./cursors.mjs";
import { Feed } from "./feed.mjs";
import { Sibling } from "./service.mjs";
import { listen, siblingServer } from "./serving.mjs";
import { stateHook } from "./state.mjs";
import { Store } from "./store.mjs";
import { Tokens } from "./tokens.mjs";

const { values } = parseArgs({ options: { port: { type: "string", default: "9202" } } });
const env = (name) => process.env[`MEMORIA_SIBLING_${name}_TOKEN`];
const store = new Store();
const cursors = new Cursors();
const tokens = new Tokens();
tokens.add("first", "pull", env("PULL"));
tokens.add("first", "ask", env("ASK"));
const sibling = new Sibling(store, new Feed(store, cursors), `http://localhost:${values.port}`);
const state = stateHook(store, cursors, tokens);
const server = siblingServer({ service: sibling.service(), tokens, state, stateToken: env("STATE") });
listen(server, Number(values.port));
