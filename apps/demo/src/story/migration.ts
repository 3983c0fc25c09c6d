import { createMigration, type Migration, type Progress as Report } from "@echomq/migrate";
import { PREFIX, QUEUE } from "../keyspace.js";
import type { Stage } from "../stage.js";
import { v2Client } from "../work/connect.js";

/** The migration of the demo's queue, and who hears how it gets on. */
export interface DemoMigration {
  readonly migration: Migration;
  /** Sets who hears; nobody does between two acts. */
  hear(listener: ((report: Report) => void) | null): void;
}

/** Opens the migration with the driver the demo was asked for. */
export async function openMigration(stage: Stage): Promise<DemoMigration> {
  let hears: ((report: Report) => void) | null = null;
  const migration = await createMigration({
    source: v2Client(stage.options.driver, stage.url),
    queue: QUEUE,
    prefix: PREFIX,
    signal: stage.signal,
    onProgress: (report) => hears?.(report),
  });
  stage.cleanup.defer(() => migration.close());
  return {
    migration,
    hear(listener) {
      hears = listener;
    },
  };
}
