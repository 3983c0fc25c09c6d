import type { Redis } from "ioredis";
import type { FamilyName, Metric } from "./cases.js";
import { Child } from "./child/child.js";
import type { Plan } from "./plan.js";
import { type Contender, type SideName, sideOf } from "./sides/types.js";

/** What every family works with: one server, one plan. */
export interface Bench {
  readonly port: number;
  /** A connection that only reads counters and empties the server. */
  readonly control: Redis;
  readonly plan: Plan;
  readonly childFile: string;
  /** Whether our worker takes `claimAhead`. */
  readonly claimAhead: boolean;
}

/** What one run of one contender gave. */
export type Measures = Partial<Readonly<Record<Metric, number>>>;

/** A family that is open: what its rounds share is set up. */
export interface OpenFamily {
  run(contender: Contender): Promise<Measures>;
  close(): Promise<void>;
}

/** Runs that belong together: cases of one family read the same runs. */
export interface Family {
  readonly name: FamilyName;
  open(bench: Bench): Promise<OpenFamily>;
}

let queues = 0;

/** A queue name of its own. Both sides' names are equally long, since keys are counted as bytes. */
export function freshQueue(side: SideName): string {
  queues += 1;
  return `${side}-${String(queues).padStart(4, "0")}`;
}

/** Child processes of a family, forked once for each contender and kept over its rounds. */
export class Children {
  readonly #file: string;
  readonly #by = new Map<string, Child[]>();

  constructor(file: string) {
    this.#file = file;
  }

  of(contender: Contender, count = 1): Child[] {
    const known = this.#by.get(contender) ?? [];
    while (known.length < count) known.push(new Child(this.#file));
    this.#by.set(contender, known);
    return known;
  }

  one(contender: Contender): Child {
    return this.of(contender)[0] as Child;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#by.values()].flat().map((child) => child.end()));
  }
}

/** Runs the rounds of one family: every contender in each, in turned order in every other round. */
export async function runRounds(
  bench: Bench,
  family: Family,
  contenders: readonly Contender[],
  told: (round: number, contender: Contender, measures: Measures) => void,
): Promise<Partial<Record<Contender, Measures>>[]> {
  const open = await family.open(bench);
  const rounds: Partial<Record<Contender, Measures>>[] = [];
  try {
    for (let round = 0; round < bench.plan.rounds; round += 1) {
      const found: Partial<Record<Contender, Measures>> = {};
      const order = round % 2 === 0 ? contenders : contenders.toReversed();
      for (const contender of order) {
        const measures = await open.run(contender);
        found[contender] = measures;
        told(round, contender, measures);
      }
      rounds.push(found);
    }
  } finally {
    await open.close();
  }
  return rounds;
}

/** Splits a contender into what its worker is opened with. */
export function workerOf(
  bench: Bench,
  contender: Contender,
): { readonly side: SideName; readonly claimAhead?: 0 | "auto" } {
  const side = sideOf(contender);
  // A core without the option claims nothing ahead: that is what strict means.
  if (contender === "strict" && bench.claimAhead) return { side, claimAhead: 0 };
  if (contender === "ahead") return { side, claimAhead: "auto" };
  return { side };
}
