import type { Args, DriverName } from "./args.js";
import { Child } from "./child/child.js";
import type { ChildSettings } from "./child/protocol.js";
import type { Who } from "./plan.js";
import type { Random } from "./random.js";

/** What all children share. */
export type Shared = Omit<ChildSettings, "role" | "name" | "url" | "driver" | "seed">;

/** How wrong the clocks of the children are, by turns, in ms. */
const CLOCKS = [0, 3_600_000, -3_600_000] as const;

/** The processes that work and add; whoever dies is replaced. */
export class Crew {
  readonly #shared: Shared;
  readonly #urls: readonly string[];
  readonly #driver: Args["driver"];
  readonly #random: Random;
  readonly #children: Record<Who, Child[]> = { worker: [], producer: [] };
  #count = 0;

  /** `urls` are taken by turns: the server's own, and that of the proxy. */
  constructor(shared: Shared, urls: readonly string[], driver: Args["driver"], random: Random) {
    this.#shared = shared;
    this.#urls = urls;
    this.#driver = driver;
    this.#random = random;
  }

  /** Starts one more; `place` decides what it is like. */
  add(role: Who, place: number = this.#children[role].length): Child {
    const n = this.#count;
    this.#count += 1;
    const drivers: readonly DriverName[] = ["ioredis", "node-redis"];
    const settings: ChildSettings = {
      ...this.#shared,
      role,
      name: `${role}-${n}`,
      url: this.#urls[(place + n) % this.#urls.length] ?? "",
      driver: this.#driver ?? (drivers[n % drivers.length] as DriverName),
      seed: this.#random.seed(),
    };
    const child = new Child(settings, CLOCKS[n % CLOCKS.length] ?? 0);
    this.#children[role][place] = child;
    return child;
  }

  all(role?: Who): Child[] {
    if (role !== undefined) return [...this.#children[role]];
    return [...this.#children.worker, ...this.#children.producer];
  }

  pick(role: Who, nth: number): Child {
    const children = this.#children[role];
    return children[nth % children.length] as Child;
  }

  /** Lets a child go that is about to end; nobody takes its place. */
  dismiss(child: Child): void {
    const { role } = child.settings;
    this.#children[role] = this.#children[role].filter((one) => one !== child);
  }

  /** Puts another in the place of a child that has ended. */
  replace(child: Child): Child {
    const { role } = child.settings;
    return this.add(role, this.#children[role].indexOf(child));
  }
}
