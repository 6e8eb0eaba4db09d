// Cursors and page tokens that nobody else can make, and that are good for one consumer and one purpose.
import { createHmac, timingSafeEqual } from "node:crypto";

const TTL = 14 * 24 * 3600 * 1000; // milliseconds

export class Cursors {
  #key;
  #epochs = new Map();

  /**
   * `key`: 16 random bytes or more (Buffer), kept with your other secrets and the same in every process; with a new one
   * every consumer starts anew. RangeError for anything else.
   */
  constructor(key) {
    if (!(key instanceof Uint8Array) || key.length < 16) throw new RangeError("a cursor key is 16 bytes or more");
    this.#key = key;
  }

  /** `payload` (anything JSON) as a token of this consumer, made at `madeAt`. Signed, not hidden. */
  make(purpose, consumer, payload, madeAt = Date.now()) {
    const body = JSON.stringify([purpose, consumer, this.#epoch(consumer), madeAt, payload]);
    const text = Buffer.from(body).toString("base64url");
    return `${text}.${this.#mac(text)}`;
  }

  /** The payload, or null for a token that is forged, another consumer's, for another purpose, or too old. */
  open(purpose, consumer, token) {
    const [text, mac, ...rest] = token.split(".");
    const expected = Buffer.from(this.#mac(text));
    const given = Buffer.from(mac ?? "");
    // The seal is over the text and not the bytes it stands for, which have more than one spelling.
    if (rest.length || given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const [forPurpose, forConsumer, epoch, madeAt, payload] = JSON.parse(Buffer.from(text, "base64url"));
    const fits = forPurpose === purpose && forConsumer === consumer && epoch === this.#epoch(consumer);
    return fits && Date.now() - madeAt <= TTL ? payload : null;
  }

  /** Let the cursors of one consumer run past their time. Of this process only: for a state hook. */
  expire(consumer) {
    this.#epochs.set(consumer, this.#epoch(consumer) + 1);
  }

  #epoch(consumer) {
    return this.#epochs.get(consumer) ?? 0;
  }

  #mac(text) {
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }
}
