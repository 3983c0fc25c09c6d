/** A line of v1 and the alias under which its package is installed. */
export interface Line {
  readonly alias: string;
  readonly version: string;
}

/** The five lines whose layouts differ. */
export const LINES: readonly Line[] = [
  { alias: "bullmq-3", version: "3.16.2" },
  { alias: "bullmq-4", version: "4.18.3" },
  { alias: "bullmq-50", version: "5.0.0" },
  { alias: "bullmq-565", version: "5.65.1" },
  { alias: "bullmq-67", version: "6.7.0" },
];

/** Kinds of v1 client that make a queue. */
export const MAKERS = ["queue", "worker", "flow"] as const;

/** A kind of v1 client that makes a queue. */
export type Maker = (typeof MAKERS)[number];
