import { ackScript, owedScript } from "@echomq/scripts";
import type { Session } from "../connection/session.js";
import { additionOf, addTo, type Letter, letterOf } from "../job/dead-letter.js";

/** Most effects of one look. */
const PAGE = 100;
/** How long an effect that was refused waits, in ms. */
const BACKOFF_MS = 30_000;
const OP = "dead letter";

/**
 * Delivers what this queue owes to others. An effect stays in the outbox until it was applied: whoever
 * dies between the two delivers it again, and the target takes it once.
 */
export class Postman {
  readonly #session: Session;
  readonly #trouble: (error: unknown) => void;
  #delivering: Promise<void> | undefined;
  #again = false;

  constructor(session: Session, trouble: (error: unknown) => void) {
    this.#session = session;
    this.#trouble = trouble;
  }

  /** Delivers what is due. A call that comes meanwhile is served after the one on its way. Never rejects. */
  deliver(): Promise<void> {
    if (this.#delivering) {
      this.#again = true;
      return this.#delivering;
    }
    this.#delivering = this.#rounds()
      .catch(this.#trouble)
      .finally(() => {
        this.#delivering = undefined;
      });
    return this.#delivering;
  }

  async #rounds(): Promise<void> {
    do {
      this.#again = false;
      while ((await this.#round()) === PAGE);
    } while (this.#again);
  }

  async #round(): Promise<number> {
    const { main, q, clock } = this.#session;
    const now = await clock.now();
    const owed = await main.run(owedScript, { q, args: { now, limit: PAGE } }, { op: OP });
    const items: { effect: string; due: number }[] = [];
    for (const { effect, payload } of owed) {
      const letter = letterOf(payload);
      const due = letter && !(await this.#delivered(letter)) ? now + BACKOFF_MS : 0;
      items.push({ effect, due });
    }
    if (items.length > 0) await main.run(ackScript, { q, args: {}, items }, { op: OP });
    return owed.length;
  }

  /** False when the target refused: the letter is kept. */
  async #delivered(letter: Letter): Promise<boolean> {
    try {
      await addTo(this.#session.neighbour(letter.to), [additionOf(letter)], OP);
      return true;
    } catch (error) {
      this.#trouble(error);
      return false;
    }
  }
}
