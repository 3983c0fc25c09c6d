import { type Bench, type Measures, runRounds } from "./bench.js";
import type { Case, Variant } from "./cases.js";
import { UNITS } from "./cases.js";
import { FAMILIES } from "./families/index.js";
import type { Contender } from "./sides/types.js";
import { summarize } from "./stats.js";

/** What one case gave. `ratio` above 1 means ours is better, `low` and `high` are its quartiles. */
export interface Result {
  readonly id: string;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly ours: number;
  readonly peer: number;
  readonly unit: string;
  readonly rounds: number;
}

/** A case that could not be measured, and why. */
interface Unavailable {
  readonly id: string;
  readonly why: string;
}

export interface Results {
  readonly results: readonly Result[];
  readonly unavailable: readonly Unavailable[];
}

const NO_CLAIM_AHEAD = "this core has no claimAhead option";

/** Measures cases, each family once, and tells of every run. */
export async function measure(
  bench: Bench,
  cases: readonly Case[],
  say: (line: string) => void,
): Promise<Results> {
  const measurable = cases.filter(({ variant }) => bench.claimAhead || variant !== "ahead");
  const found = new Map<string, Result>();
  for (const family of FAMILIES) {
    const own = measurable.filter((one) => one.family === family.name);
    if (own.length === 0) continue;
    const variants = new Set<Variant>(own.map(({ variant }) => variant));
    const rounds = await runRounds(bench, family, [...variants, "peer"], (round, who, measures) =>
      say(`${family.name} ${round + 1}/${bench.plan.rounds} ${who}: ${shown(measures)}`),
    );
    for (const one of own) found.set(one.id, resultOf(one, rounds));
  }
  return {
    results: cases.flatMap(({ id }) => found.get(id) ?? []),
    unavailable: cases
      .filter(({ id }) => !found.has(id))
      .map(({ id }) => ({ id, why: NO_CLAIM_AHEAD })),
  };
}

function resultOf(
  { id, variant, metric }: Case,
  rounds: readonly Partial<Record<Contender, Measures>>[],
): Result {
  const pairs = rounds.map((round) => ({
    ours: round[variant]?.[metric] ?? Number.NaN,
    peer: round.peer?.[metric] ?? Number.NaN,
  }));
  const summary = summarize(pairs, metric === "rate" ? "more" : "less");
  if (Object.values(summary).some(Number.isNaN)) throw new Error(`${id} was not measured`);
  return { id, ...summary, unit: UNITS[metric], rounds: rounds.length };
}

function shown(measures: Measures): string {
  return Object.entries(measures)
    .map(([metric, value]) => `${metric} ${value.toPrecision(4)}`)
    .join(", ");
}
