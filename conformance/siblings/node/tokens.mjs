// Who may call: hashed bearer tokens, at most two a consumer and scope.
import { createHash, timingSafeEqual } from "node:crypto";

/** The calls a token of each scope is good for. */
const SCOPES = {
  pull: ["Describe", "ListChanges", "Announce", "GetContent"],
  ask: ["Describe", "Authorize", "Aggregate"],
};

const digest = (token) => createHash("sha256").update(token).digest();

export class Tokens {
  #held; // {consumer, scope, hash}

  /** Those of `hashes`, as they were stored; none by default. RangeError for what `hashes` never gave. */
  constructor(hashes = []) {
    this.#held = hashes.map(({ consumer, scope, sha256 }) => {
      const proper = Object.hasOwn(SCOPES, scope) && /^[0-9a-f]{64}$/.test(sha256);
      if (!consumer || !proper) throw new RangeError("a stored token has a consumer, a scope, and a SHA-256 in hex");
      return { consumer, scope, hash: Buffer.from(sha256, "hex") };
    });
  }

  /** What to store after `add` or `retire`: [{consumer, scope, sha256 in hex}]. Nobody finds a token from it. */
  get hashes() {
    return this.#held.map(({ consumer, scope, hash }) => ({ consumer, scope, sha256: hash.toString("hex") }));
  }

  /** Accept this token too; again is nothing. RangeError for an unknown scope, no token, or a third. */
  add(consumer, scope, token) {
    if (!Object.hasOwn(SCOPES, scope)) throw new RangeError("a scope is pull or ask");
    if (!token) throw new RangeError("there is no token to add");
    const hash = digest(token);
    const own = this.#held.filter((held) => held.consumer === consumer && held.scope === scope);
    if (own.some((held) => held.hash.equals(hash))) return;
    if (own.length >= 2) throw new RangeError("a consumer has at most two tokens a scope");
    this.#held.push({ consumer, scope, hash });
  }

  /** Accept only `keep` of this consumer and scope, or none where it is ""; again is nothing. */
  retire(consumer, scope, keep) {
    const hash = digest(keep);
    const own = (one) => one.consumer === consumer && one.scope === scope;
    const held = this.#held.some((one) => own(one) && one.hash.equals(hash));
    if (keep && !held) throw new RangeError("the token to keep is not held");
    this.#held = this.#held.filter((one) => !own(one) || one.hash.equals(hash));
  }

  /** {consumer, allowed}: `consumer` is null for a token that is not good, `allowed` says whether its scope fits. */
  admit(authorization, call) {
    const match = /^bearer +([\x21-\x7e]+)$/i.exec(authorization ?? "");
    const hash = digest(match?.[1] ?? "");
    let found = { consumer: null, allowed: false };
    for (const held of this.#held) {
      // All of them are looked at, so that the time taken says nothing about which one it was.
      if (timingSafeEqual(held.hash, hash) && match) {
        const allowed = found.allowed || SCOPES[held.scope].includes(call);
        found = { consumer: held.consumer, allowed };
      }
    }
    return found;
  }
}

/** The token that an environment variable holds. Error, with the variable's name, where it is not set. */
export function fromEnvironment(name) {
  if (!process.env[name]) throw new Error(`${name} is not set: it holds a token`);
  return process.env[name];
}
