import { ValidationError } from "@echomq/wire";

const LONGEST_MS = 2_147_483_647;
const DEFAULT_MS = 10_000;

/**
 * The time for a first connection, in milliseconds.
 * @throws ValidationError `VALIDATION` unless it is a whole number from 1 to 2 147 483 647.
 */
export function connectTimeout(value: number | undefined): number {
  if (value === undefined) return DEFAULT_MS;
  if (Number.isInteger(value) && value >= 1 && value <= LONGEST_MS) return value;
  throw new ValidationError({
    option: "connectTimeoutMs",
    reason: `must be whole milliseconds from 1 to ${LONGEST_MS}`,
  });
}
