import { isEchoMQError, jobId } from "@echomq/wire";
import type { Context } from "../context.js";

/** Why v2 cannot hold a job under this id, or null. */
export function idFaultOf(ctx: Context, id: string, option = "jobId"): string | null {
  try {
    jobId(id, option);
  } catch (error) {
    return isEchoMQError(error) ? error.message : String(error);
  }
  // In place, both wires share one key space, and these names are taken.
  if (ctx.v1.inPlace && /^(?:v2|emq-vault):/.test(id)) {
    return `${option}: begins with a name that the v2 wire uses in the same place`;
  }
  return id.startsWith("emq-vault:") ? `${option}: begins with the name of the vault` : null;
}

/** A list that keeps its first entries and counts the rest, so a report stays small. */
export class Sample<T> {
  readonly first: T[] = [];
  count = 0;
  readonly #most: number;

  constructor(most = 20) {
    this.#most = most;
  }

  add(item: T): void {
    this.count += 1;
    if (this.first.length < this.#most) this.first.push(item);
  }
}
