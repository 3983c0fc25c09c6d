/** A worker or producer process. It does the work and measures nothing. */

import { producing } from "./producing.js";
import type { Call, Method, Methods, Told } from "./protocol.js";
import { working } from "./working.js";

type Handlers = { [M in Method]: (params: Methods[M]["params"]) => Promise<Methods[M]["result"]> };

function tell(told: Told): void {
  process.send?.(told);
}

const handlers: Handlers = {
  ...working({
    progress: (count) => tell({ type: "progress", count }),
    trouble: (error) => tell({ type: "trouble", error: textOf(error) }),
  }),
  ...producing(),
};

process.on("message", ({ id, method, params }: Call) => {
  const handler = handlers[method] as (params: unknown) => Promise<unknown>;
  handler(params).then(
    (result) => tell({ type: "answer", id, result }),
    (error: unknown) => tell({ type: "refusal", id, error: textOf(error) }),
  );
});

// Whoever started this is gone.
process.on("disconnect", () => process.exit(0));

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
