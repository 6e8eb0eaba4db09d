// An HTTP server for the contract: what connect-node lets through and the contract does not is refused before it.
import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { ConnectError, createConnectRouter, createContextKey, createContextValues } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { SiblingService } from "./contract.mjs";

const REQUEST_LIMIT = 1024 * 1024; // bytes
const HOOK_LIMIT = 8 * 1024 * 1024;
const ONCE = ["authorization", "content-type", "content-encoding", "connect-timeout-ms"];
const PREFIX = `/${SiblingService.typeName}/`;

/** The name of the consumer that calls: `context.values.get(consumerKey)`. */
export const consumerKey = createContextKey("");

/**
 * Serves `service` to the holders of `tokens`, and `state` to the holder of `stateToken` where there is one.
 *
 * `other(req, res)` answers every other path; an Express or Connect app is such a function. Without it: 404.
 * `onError(error, what)` is told what your functions throw; a ConnectError is an answer, and is not told.
 */
export function siblingServer({ service, tokens, state, stateToken, other = nothing, onError = tell }) {
  const options = { grpc: false, grpcWeb: false, acceptCompression: [], jsonOptions: { ignoreUnknownFields: true } };
  const router = createConnectRouter({ ...options, interceptors: [watch(onError)] }).service(SiblingService, service);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return createServer((req, res) => {
    const path = req.url.split("?", 1)[0];
    if (path === "/__state" && stateToken) {
      answerHook(req, res, state, stateToken, onError);
    } else if (path.startsWith(PREFIX)) {
      const refusal = refuse(req, tokens, path.slice(PREFIX.length));
      if (refusal) send(res, ...refusal);
      else answer(req, res, handlers.get(path), onError);
    } else {
      other(req, res);
    }
  });
}

function nothing(req, res) {
  res.writeHead(404).end();
}

/** The whole stack while you build. In production the class alone: the words of an error may quote a page. */
function tell(error, what) {
  const production = process.env.NODE_ENV === "production";
  console.error(production ? `${what} failed (${nameOf(error)})` : `${what} failed:`, ...(production ? [] : [error]));
}

/** Hands what is no answer to `onError` on its way to being answered `internal error`. */
function watch(onError) {
  return (next) => async (request) => {
    try {
      const reply = await next(request);
      toJson(request.method.output, reply.message); // a field of a wrong type fails here, where it is told
      return reply;
    } catch (error) {
      if (!(error instanceof ConnectError)) onError(error, request.method.name);
      throw error;
    }
  };
}

const nameOf = (error) => error?.constructor?.name ?? typeof error;

/** [status, code, message, headers] of a request that the contract refuses whatever its body holds. */
function refuse(req, tokens, call) {
  if (req.method !== "POST") return [405, "unimplemented", "only POST is answered", { Allow: "POST" }];
  const names = req.rawHeaders.filter((_, n) => n % 2 === 0).map((name) => name.toLowerCase());
  if (ONCE.some((once) => names.filter((name) => name === once).length > 1)) {
    return [400, "invalid_argument", "a header that may appear once appears twice"];
  }
  if (!SiblingService.methods.some((method) => method.name === call)) return [404, "unimplemented", "no such method"];
  const { consumer, allowed } = tokens.admit(req.headers.authorization, call);
  if (consumer === null) return [401, "unauthenticated", "this call needs a consumer's token"];
  if (!allowed) return [403, "permission_denied", "this token is not good for this call"];
  if (!/^application\/(json|proto)\s*(;\s*charset="?utf-8"?\s*)?$/i.test(req.headers["content-type"] ?? "")) {
    return [415, "invalid_argument", "unknown content type", { "Accept-Post": "application/json, application/proto" }];
  }
  if ((req.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") {
    return [501, "unimplemented", "compressed requests are not accepted"];
  }
  req.consumer = consumer;
  return null;
}

/** Reads the body, has the call answered, and writes the reply. */
async function answer(req, res, handler, onError) {
  try {
    const body = await read(req, REQUEST_LIMIT);
    if (body === null) return send(res, 429, "resource_exhausted", "the request is too large");
    if (/^application\/proto/i.test(req.headers["content-type"]) && !readable(handler.method.input, body)) {
      return send(res, 400, "invalid_argument", "the body is not the request message");
    }
    const values = createContextValues().set(consumerKey, req.consumer);
    const asked = universalRequestFromNodeRequest(req, res, undefined, values);
    const reply = await handler({ ...asked, body: createAsyncIterable([body]) });
    await universalResponseToNodeResponse(reply, res);
  } catch (error) {
    if (req.complete && !res.closed) onError(error, handler.method.name); // else the caller hung up
    res.destroy();
  }
}

/** The body, or null where it has more than `limit` bytes. Throws where the caller hangs up. */
async function read(req, limit) {
  const parts = [];
  let size = 0;
  for await (const part of req) {
    size += part.length;
    if (size > limit) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Whether binary can be read. Connect-node would call binary that cannot its own fault: `internal`. */
function readable(schema, body) {
  try {
    fromBinary(schema, body);
    return true;
  } catch {
    return false;
  }
}

function send(res, status, code, message, headers = {}) {
  // What is left of the request is not read: the connection ends with this reply.
  res.writeHead(status, { "Content-Type": "application/json", Connection: "close", ...headers });
  res.end(JSON.stringify({ code, message }));
}

async function answerHook(req, res, state, stateToken, onError) {
  const given = Buffer.from(req.headers.authorization ?? "");
  const expected = Buffer.from(`Bearer ${stateToken}`);
  if (req.method !== "POST") return send(res, 405, "unimplemented", "only POST is answered", { Allow: "POST" });
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return send(res, 401, "unauthenticated", "this call needs the state token");
  }
  let request;
  try {
    request = JSON.parse((await read(req, HOOK_LIMIT)) ?? "too large");
  } catch {
    return send(res, 400, "invalid_argument", "not a request of the hook: no JSON, or too large");
  }
  try {
    const answer = await state(request);
    const body = JSON.stringify(answer ?? { unsupported: true });
    res.writeHead(answer === null ? 501 : 200, { "Content-Type": "application/json" }).end(body);
  } catch (error) {
    onError(error, `the state hook's ${request?.state}`);
    send(res, 500, "internal", `the hook failed (${nameOf(error)})`);
  }
}

/** Listens on 127.0.0.1, says so in one line, and ends with stdin where MEMORIA_LIFELINE is 1: the parent is gone. */
export function listen(server, port) {
  server.listen(port, "127.0.0.1", () => console.log(`ready on port ${server.address().port}`));
  if (process.env.MEMORIA_LIFELINE === "1") process.stdin.resume().on("end", () => process.exit(0));
}

/** A Date as the contract's timestamps are. */
export function timestamp(date) {
  const ms = date.getTime();
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 };
}
