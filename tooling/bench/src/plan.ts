/** How much work each run does. Counts are jobs. */
export interface Plan {
  readonly rounds: number;
  readonly c1: number;
  readonly c10: number;
  readonly c100: number;
  readonly add: number;
  readonly memory: number;
  readonly latency: number;
  /** Jobs held active by others while another set is drained. */
  readonly held: number;
  readonly active: number;
}

const FULL: Plan = {
  rounds: 9,
  // Long enough that what comes before the first job and after the last does not count, nor one bad moment
  // of the machine.
  c1: 10_000,
  c10: 40_000,
  c100: 50_000,
  add: 50_000,
  memory: 20_000,
  latency: 1_000,
  held: 50_000,
  active: 3_000,
};

const QUICK: Plan = {
  rounds: 3,
  c1: 1_000,
  c10: 2_000,
  c100: 4_000,
  add: 4_000,
  memory: 20_000,
  latency: 200,
  held: 50_000,
  active: 400,
};

/** Fewest jobs of a run: below, nothing is left to take an average of. */
const FEWEST = 100;

/** The plan for a run; `scale` shrinks every count, to try the tool. */
export function planFor(options: {
  readonly quick: boolean;
  readonly rounds?: number;
  readonly scale: number;
}): Plan {
  const { rounds, ...counts } = options.quick ? QUICK : FULL;
  const scaled = Object.entries(counts).map(([key, count]) => {
    return [key, Math.max(Math.round(count * options.scale), FEWEST)] as const;
  });
  return {
    ...(Object.fromEntries(scaled) as Omit<Plan, "rounds">),
    rounds: options.rounds ?? rounds,
  };
}
