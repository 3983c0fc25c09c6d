import { randomBytes } from "node:crypto";

/**
 * Lease tokens of one worker. Each claim call gets its own, so a claim whose reply was lost can be told
 * from every other. Letters, digits and a dot: the scripts split owners at colons.
 */
export class Tokens {
  readonly #base: string = randomBytes(8).toString("base64url").replaceAll("-", "_");
  #count = 0;

  next(): string {
    this.#count += 1;
    return `${this.#base}.${this.#count.toString(36)}`;
  }
}
