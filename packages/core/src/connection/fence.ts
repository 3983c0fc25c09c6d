import { type Dispatcher, fenceRead, initScript, limitScript } from "@echomq/scripts";
import {
  decideFence,
  type FenceDecision,
  type FencePass,
  fenceError,
  isEchoMQError,
} from "@echomq/wire";
import type { Clock } from "./clock.js";

interface Passed {
  readonly epoch: number;
  readonly pass: FencePass;
  /** The queue was told what the fence's owner wants of it. */
  readonly told?: true;
}

/**
 * The boot fence of one queue: decides before the first command of a lane, and again after each
 * reconnect, whether this keyspace is ours. The scripts check the stamp again at every step.
 */
export class BootFence {
  readonly #q: string;
  readonly #prefixes: readonly string[] | undefined;
  readonly #eventsMax: number | undefined;
  /** Epoch at which each lane was last let through, and what stood there. */
  readonly #passed = new Map<Dispatcher, Passed>();

  /** `eventsMax` is how many entries of its stream the queue is told to keep, before it is written to. */
  constructor(q: string, prefixes: readonly string[] | undefined, eventsMax?: number | undefined) {
    this.#q = q;
    this.#prefixes = prefixes;
    this.#eventsMax = eventsMax;
  }

  /**
   * Lets a lane through, reading the probes where its connection is new.
   * @throws FenceError with the code of the fence table.
   */
  async check(lane: Dispatcher): Promise<FencePass> {
    const known = this.#passed.get(lane);
    // A queue that was empty may have been opened, or taken by v1, since: look again.
    if (known?.epoch === lane.epoch && known.pass.state === "v2") return known.pass;
    return this.#probe(lane);
  }

  /** True where {@link open} would have nothing to do. */
  isOpen(lane: Dispatcher): boolean {
    const known = this.#passed.get(lane);
    const told = known?.told === true || this.#eventsMax === undefined;
    return known?.epoch === lane.epoch && known.pass.opened && told;
  }

  /** Lets a lane through for writing: opens the queue with its first write. */
  async open(lane: Dispatcher, clock: Clock): Promise<void> {
    if (this.isOpen(lane)) return;
    const q = this.#q;
    const pass = await this.#probe(lane);
    if (!pass.opened) {
      await lane.run(initScript, { q, args: { now: await clock.now() } }, { op: "open" });
    }
    if (this.#eventsMax !== undefined) {
      const args = { kind: "events", most: this.#eventsMax, ms: 0 };
      await lane.run(limitScript, { q, args }, { op: "open" });
    } else if (pass.opened) return;
    this.#passed.set(lane, {
      epoch: lane.epoch,
      pass: { action: "go", state: "v2", opened: true },
      told: true,
    });
  }

  /**
   * Runs a call on a lane behind the fence. Where a script refuses the stamp, the probes are read
   * once more: they name the code, or show an emptied server, which is opened anew.
   */
  async guard<T>(lane: Dispatcher, clock: Clock, work: () => Promise<T>): Promise<T> {
    // A promise awaited costs a turn of the microtasks, with every call.
    if (!this.isOpen(lane)) await this.open(lane, clock);
    try {
      return await work();
    } catch (error) {
      if (!isEchoMQError(error, "EMQFENCE")) throw error;
      this.#passed.delete(lane);
      await this.open(lane, clock);
      return work();
    }
  }

  /**
   * Runs a call that only reads; null where the queue does not exist, which creates nothing.
   * @throws FenceError with the code of the fence table.
   */
  async look<T>(lane: Dispatcher, work: () => Promise<T>): Promise<T | null> {
    if ((await this.check(lane)).state === "empty") return null;
    try {
      return await work();
    } catch (error) {
      if (!isEchoMQError(error, "EMQFENCE")) throw error;
      this.#passed.delete(lane);
      return (await this.check(lane)).state === "empty" ? null : work();
    }
  }

  /** Lets a lane through no more: its next call reads the probes. */
  forget(lane: Dispatcher): void {
    this.#passed.delete(lane);
  }

  async #probe(lane: Dispatcher): Promise<FencePass> {
    const { epoch } = lane;
    const read = fenceRead(this.#q, this.#prefixes);
    const look = async (): Promise<FenceDecision> =>
      decideFence(read.understand(await lane.readEach(read.commands, { op: "fence" })));
    let decision = await look();
    // The probes are no single step: a queue that is being opened between two of them looks like damage.
    if (decision.action === "refuse") decision = await look();
    if (decision.action === "refuse") {
      this.#passed.delete(lane);
      throw fenceError(decision, this.#q);
    }
    this.#passed.set(lane, { epoch, pass: decision });
    return decision;
  }
}
