import type {
  CommandLine,
  CommitOptions,
  DiscoverQueuesOptions,
  DrainOptions,
  FenceOptions,
  MigrationOptions,
  RemoveOptions,
  RollbackOptions,
  RunOptions,
  Source,
} from "@echomq/migrate";
import type { GuardOptions } from "@echomq/migrate/v1-guard";

declare const source: Source;

const migration = {
  source,
  queue: "mails",
  prefix: undefined,
  as: undefined,
  run: undefined,
  batch: undefined,
  signal: undefined,
  commandLine: undefined,
  onProgress: undefined,
};

/** An option that is `undefined` is not given: whoever passes one on need not leave it out. */
export function options(): void {
  migration satisfies MigrationOptions;
  ({ url: undefined, driver: undefined }) satisfies CommandLine;
  ({
    source,
    prefixes: undefined,
    signal: undefined,
    commandLine: undefined,
  }) satisfies DiscoverQueuesOptions;
  ({ allowConnected: undefined, plan: undefined }) satisfies FenceOptions;
  ({ deadlineMs: undefined }) satisfies DrainOptions;
  ({ overwrite: undefined }) satisfies RollbackOptions;
  ({ purgeV1: undefined }) satisfies CommitOptions;
  ({ yes: undefined }) satisfies RemoveOptions;
  ({ onReport: undefined, allowConnected: undefined, deadlineMs: undefined }) satisfies RunOptions;
  ({ queue: "mails", prefix: undefined }) satisfies GuardOptions;
}
