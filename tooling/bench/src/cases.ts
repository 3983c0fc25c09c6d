/** What a case reports: a rate (more is better) or a cost per job (less is better). */
export type Metric = "rate" | "cpu" | "commands" | "bytes" | "memory" | "latency";

/** How our worker is set: `strict` claims nothing ahead, `ahead` may, `plain` leaves the default. */
export type Variant = "strict" | "ahead" | "plain";

export type FamilyName =
  | "drain-c1"
  | "drain-c10"
  | "drain-c100"
  | "drain-2x50"
  | "drain-keep"
  | "add-bulk"
  | "add-64"
  | "memory"
  | "latency"
  | "active";

/** One row of the table: which runs it reads, what it reads of them, and the mark to hold. */
export interface Case {
  readonly id: string;
  readonly what: string;
  readonly family: FamilyName;
  readonly variant: Variant;
  readonly metric: Metric;
  /** Ratio the lower quartile should reach; above 1 is better than the peer. */
  readonly hold: number;
}

export const UNITS: Readonly<Record<Metric, string>> = {
  rate: "jobs/s",
  cpu: "µs of Redis CPU/job",
  commands: "commands/job",
  bytes: "bytes in and out/job",
  memory: "bytes/waiting job",
  latency: "ms",
};

function row(
  id: string,
  what: string,
  from: readonly [FamilyName, Variant, Metric],
  hold: number,
): Case {
  const [family, variant, metric] = from;
  return { id, what, family, variant, metric, hold };
}

/** Every case, in the order of the table. Cases of one family share its runs. */
export const CASES: readonly Case[] = [
  row("drain-c1-strict", "drain, concurrency 1, strict", ["drain-c1", "strict", "rate"], 1.9),
  row("drain-c1-ahead", "drain, concurrency 1, claim-ahead", ["drain-c1", "ahead", "rate"], 7),
  row("drain-c10-strict", "drain, concurrency 10, strict", ["drain-c10", "strict", "rate"], 2.2),
  row("drain-c10-ahead", "drain, concurrency 10, claim-ahead", ["drain-c10", "ahead", "rate"], 3.3),
  row("drain-c100", "drain, concurrency 100", ["drain-c100", "plain", "rate"], 3.5),
  row("drain-2x50", "drain, 2 processes x 50", ["drain-2x50", "plain", "rate"], 3.5),
  row("drain-keep-c100", "drain keeping all, concurrency 100", ["drain-keep", "plain", "rate"], 3),
  row("add-bulk", "`addBulk`, 1 000 at a time", ["add-bulk", "plain", "rate"], 3.5),
  row("add-64", "`add`, 64 in flight", ["add-64", "plain", "rate"], 2.5),
  row("cpu-c1", "Redis CPU, concurrency 1, strict", ["drain-c1", "strict", "cpu"], 1.5),
  row("cpu-c10", "Redis CPU, concurrency 10, strict", ["drain-c10", "strict", "cpu"], 3),
  row("cpu-c100", "Redis CPU, concurrency 100", ["drain-c100", "plain", "cpu"], 4),
  row("commands-c1", "commands, concurrency 1, strict", ["drain-c1", "strict", "commands"], 1.64),
  row("commands-c10", "commands, concurrency 10, strict", ["drain-c10", "strict", "commands"], 6.6),
  row("commands-c100", "commands, concurrency 100", ["drain-c100", "plain", "commands"], 11.5),
  row("bytes-c1", "bytes, concurrency 1, strict", ["drain-c1", "strict", "bytes"], 1.4),
  row("bytes-c100", "bytes, concurrency 100", ["drain-c100", "plain", "bytes"], 2.37),
  row("memory-waiting", "memory of a waiting job", ["memory", "plain", "memory"], 1.25),
  row("latency-p50", "add to start, p50 at 200 jobs/s", ["latency", "plain", "latency"], 1.05),
  row("active-50k", "drain with 50 000 active elsewhere", ["active", "plain", "rate"], 10),
];
