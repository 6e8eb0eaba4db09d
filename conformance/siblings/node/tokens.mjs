// Who may call: hashed bearer tokens, at most two a consumer and scope.
import { createHash, timingSafeEqual } from "node:crypto";

/** The calls a token of each scope is good for. */
const SCOPES = {
  pull: ["Describe", "ListChanges", "Announce", "GetContent"],
  ask: ["Describe", "Authorize", "Aggregate"],
};

const digest = (token) => createHash("sha256").update(token).digest();

export class Tokens {
  #held = []; // {consumer, scope, hash}

  /** Accept this token too; again is nothing. RangeError for an unknown scope, no token, or a third. */
  add(consumer, scope, token) {
    if (!Object.hasOwn(SCOPES, scope) || !token) throw new RangeError("an unknown scope, or no token");
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
