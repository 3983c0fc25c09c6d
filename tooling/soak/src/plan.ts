import { Random } from "./random.js";

/** What a fault does. `storm` faults hurt what runs; the others only steer the queue. */
export type Fault =
  | { readonly kind: "kill"; readonly who: Who; readonly nth: number }
  | { readonly kind: "stop"; readonly who: Who; readonly nth: number; readonly ms: number }
  | { readonly kind: "deploy"; readonly nth: number; readonly ms: number }
  | { readonly kind: "clock"; readonly who: Who; readonly nth: number; readonly ms: number }
  | { readonly kind: "pauseWorker"; readonly nth: number; readonly ms: number }
  | { readonly kind: "clientKill"; readonly role: "main" | "lease" | "blocking" | "all" }
  | { readonly kind: "flush" }
  | { readonly kind: "cut" }
  | { readonly kind: "halfOpen"; readonly way: "up" | "down" | "both"; readonly ms: number }
  | { readonly kind: "dropReplies"; readonly count: number }
  | { readonly kind: "slow"; readonly ms: number; readonly lag: number }
  | { readonly kind: "restart"; readonly how: "SIGTERM" | "SIGKILL"; readonly ms: number }
  | { readonly kind: "freeze"; readonly ms: number }
  | { readonly kind: "full"; readonly ms: number }
  | { readonly kind: "pauseQueue"; readonly ms: number }
  | { readonly kind: "rate"; readonly max: number; readonly duration: number; readonly ms: number }
  | { readonly kind: "hold"; readonly ms: number }
  | { readonly kind: "concurrency"; readonly most: number; readonly ms: number };

export type Who = "worker" | "producer";
export type FaultKind = Fault["kind"];

/** A fault and when it comes, in ms from the start. */
export interface Planned {
  readonly at: number;
  readonly fault: Fault;
}

/** What a plan is made from. */
export interface PlanOptions {
  readonly seed: number;
  readonly kills: number;
  readonly ms: number;
  /** Length of a lease, in ms: some faults last longer than that. */
  readonly leaseMs: number;
}

/** A storm and the calm behind it, in which nothing excuses a job that is lost or run twice, in ms. */
const ROUND_MS = 20_000;
const CALM = 0.35;

/** Other faults for each kill; how often each comes. */
const WEIGHTS: Readonly<Record<Exclude<FaultKind, "kill">, number>> = {
  stop: 10,
  deploy: 8,
  clock: 10,
  pauseWorker: 5,
  clientKill: 12,
  flush: 8,
  cut: 10,
  halfOpen: 8,
  dropReplies: 10,
  slow: 4,
  restart: 6,
  freeze: 5,
  full: 4,
  pauseQueue: 6,
  rate: 4,
  hold: 3,
  concurrency: 4,
};

/** The faults of a run: the same ones for the same options. */
export function planFor({ seed, kills, ms, leaseMs }: PlanOptions): Planned[] {
  const random = new Random(seed);
  const rounds = Math.max(Math.round(ms / ROUND_MS), 1);
  const round = ms / rounds;
  // Kills and as many others, and of those each kind once before one comes again.
  const others = Math.max(kills, 4);
  const faults: Fault[] = Array.from({ length: kills }, () => killOf(random));
  const bag: Exclude<FaultKind, "kill">[] = [];
  for (let n = 0; n < others; n += 1) {
    if (bag.length === 0) bag.push(...refill(random));
    faults.push(faultOf(bag.pop() ?? "flush", random, leaseMs));
  }
  shuffle(faults, random);
  return faults
    .map((fault, n): Planned => {
      const start = (n % rounds) * round;
      return { at: Math.round(start + random.next() * round * (1 - CALM)), fault };
    })
    .sort((a, b) => a.at - b.at);
}

/** A handful of kinds by their weights, the rare ones not left to chance for ever. */
function refill(random: Random): Exclude<FaultKind, "kill">[] {
  const kinds = Object.entries(WEIGHTS).flatMap(([kind, weight]) =>
    Array.from({ length: Math.round(weight / 4) }, () => kind as Exclude<FaultKind, "kill">),
  );
  shuffle(kinds, random);
  return kinds;
}

function shuffle<T>(list: T[], random: Random): void {
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = random.whole(0, at);
    [list[at], list[other]] = [list[other] as T, list[at] as T];
  }
}

function killOf(random: Random): Fault {
  const who = random.chance(0.75) ? "worker" : "producer";
  return { kind: "kill", who, nth: random.whole(0, 999) };
}

function faultOf(kind: Exclude<FaultKind, "kill">, random: Random, leaseMs: number): Fault {
  const nth = random.whole(0, 999);
  const who: Who = random.chance(0.7) ? "worker" : "producer";
  switch (kind) {
    case "stop":
      // Half of them longer than a lease, with a sweep behind it.
      return { kind, who, nth, ms: random.whole(300, 2 * leaseMs + 1_500) };
    case "deploy":
      return { kind, nth, ms: random.pick([0, 100, 5_000]) };
    case "clock":
      return { kind, who, nth, ms: random.pick([-3_600_000, 3_600_000, -90_000, 5_000]) };
    case "pauseWorker":
      return { kind, nth, ms: random.whole(500, 3_000) };
    case "clientKill":
      return { kind, role: random.pick(["main", "lease", "blocking", "all"]) };
    case "halfOpen":
      // Longer than a blocking read waits, at times.
      return { kind, way: random.pick(["up", "down", "both"]), ms: random.whole(500, 7_500) };
    case "dropReplies":
      return { kind, count: random.whole(1, 4) };
    case "slow":
      return { kind, ms: random.whole(500, 3_000), lag: random.whole(5, 120) };
    case "restart":
      return { kind, how: random.pick(["SIGTERM", "SIGKILL"]), ms: random.whole(0, 1_500) };
    case "freeze":
      return { kind, ms: random.whole(200, 2_500) };
    case "full":
    case "hold":
      return { kind, ms: random.whole(300, 1_500) };
    case "pauseQueue":
      return { kind, ms: random.whole(500, 3_000) };
    case "rate":
      return {
        kind,
        max: random.whole(1, 20),
        duration: random.whole(100, 500),
        ms: random.whole(1_000, 3_000),
      };
    case "concurrency":
      return { kind, most: random.whole(1, 4), ms: random.whole(1_000, 3_000) };
    case "flush":
    case "cut":
      return { kind };
  }
}
