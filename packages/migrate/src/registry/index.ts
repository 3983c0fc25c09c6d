import { compare, copy, dedup, erase, options, purge } from "./batches.js";
import { commit, fence, journal, phase, reopen, repair, restore, retire } from "./cutover.js";

/** Every script of the migration, by name. */
export const MIGRATION_REGISTRY = {
  fence,
  phase,
  copy,
  dedup,
  options,
  compare,
  commit,
  reopen,
  erase,
  restore,
  purge,
  repair,
  retire,
  journal,
} as const;
