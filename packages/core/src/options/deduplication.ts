import { jobId } from "@echomq/wire";
import { flag, record, refuse, whole } from "./check.js";
import { DELAY_MAX_MS } from "./limits.js";

/**
 * Lets one job stand for all that are added under the same id. Without more it does so until it ends or
 * is removed; jobs added meanwhile are dropped, and their `add` answers with the job that stands.
 */
export interface Deduplication {
  readonly id: string;
  /** How long it stands for others, in ms from its own add, whether it has ended or not. */
  readonly ttl?: number | undefined;
  /** Starts `ttl` anew with every job that is dropped, or that replaces. */
  readonly extend?: boolean | undefined;
  /** While it is delayed, a new job replaces it instead of being dropped. */
  readonly replace?: boolean | undefined;
  /**
   * While it runs, the last job added is kept back and put in line when it ends; each job replaces the
   * one kept before. `ttl` and `extend` then mean nothing.
   */
  readonly keepLastIfActive?: boolean | undefined;
}

/** A deduplication, checked and complete. */
export interface CheckedDeduplication {
  readonly id: string;
  /** 0 for none. */
  readonly ttl: number;
  /** As the script takes them: 1 extend, 2 replace, 4 keep the last. */
  readonly flags: number;
}

const KNOWN = ["id", "ttl", "extend", "replace", "keepLastIfActive"] as const;

/** @throws ValidationError `VALIDATION` naming the option. */
export function checkDeduplication(
  option: string,
  value: unknown,
): CheckedDeduplication | undefined {
  if (value === undefined) return undefined;
  const given = record(option, value, KNOWN);
  if (given.id === undefined) refuse(`${option}.id`, "is required");
  const id = jobId(given.id, `${option}.id`);
  const ttl = whole(`${option}.ttl`, given.ttl, 1, DELAY_MAX_MS) ?? 0;
  const extend = flag(`${option}.extend`, given.extend) ?? false;
  const replace = flag(`${option}.replace`, given.replace) ?? false;
  const last = flag(`${option}.keepLastIfActive`, given.keepLastIfActive) ?? false;
  if (extend && ttl === 0) refuse(`${option}.extend`, "needs ttl");
  return { id, ttl, flags: (extend ? 1 : 0) + (replace ? 2 : 0) + (last ? 4 : 0) };
}
