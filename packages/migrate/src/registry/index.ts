import { compare, copy, dedup, erase, options, purge } from "./batches.js";
import { commit, fence, journal, phase, reopen, repair, restore, retire } from "./cutover.js";

/** Every script of the migration, by name; the generator checks that each is a `ScriptSpec`. */
export const MIGRATION_REGISTRY: {
  readonly fence: typeof fence;
  readonly phase: typeof phase;
  readonly copy: typeof copy;
  readonly dedup: typeof dedup;
  readonly options: typeof options;
  readonly compare: typeof compare;
  readonly commit: typeof commit;
  readonly reopen: typeof reopen;
  readonly erase: typeof erase;
  readonly restore: typeof restore;
  readonly purge: typeof purge;
  readonly repair: typeof repair;
  readonly retire: typeof retire;
  readonly journal: typeof journal;
} = {
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
};
