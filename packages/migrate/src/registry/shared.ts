import type { ArgSpec, GroupSpec, ReplySpec } from "@echomq/scripts";

/** The stamp this run must find, in the phase it works in. */
export const OWN = {
  name: "own",
  type: "text",
  doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
} as const satisfies ArgSpec;

export const RUN = { name: "run", type: "text", doc: "id of the run" } as const satisfies ArgSpec;

export const TOMBSTONE = {
  name: "tombstone",
  type: "text",
  doc: "text to stand in the place of v1's meta, empty in place",
} as const satisfies ArgSpec;

/** v1 keys: their names depend on a prefix that is not the wire's, so the caller gives them whole. */
export const LIVE = { name: "live", kinds: "raw" } as const satisfies GroupSpec;
export const VAULT = { name: "vault", kinds: "raw" } as const satisfies GroupSpec;
export const SOURCES = { name: "sources", kinds: "raw" } as const satisfies GroupSpec;
export const VICTIMS = { name: "victims", kinds: "raw" } as const satisfies GroupSpec;
/** The key of the tombstone, none in place. */
export const TOMBS = { name: "tombs", kinds: "raw" } as const satisfies GroupSpec;

/** A job with its log, in the order of `sources`. */
export const JOBS = { name: "jobs", kinds: ["job", "logs"] } as const satisfies GroupSpec;

export const TEXTS = { type: "list", of: { type: "text" } } as const satisfies ReplySpec;
