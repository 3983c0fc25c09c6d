import type { Redis } from "ioredis";

/** A job of a made-up v1 queue. */
export interface SeedJob {
  readonly id: string;
  readonly state: "wait" | "paused" | "prioritized" | "delayed" | "completed" | "failed";
  readonly score: number;
  readonly priority: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly logs: readonly string[];
}

/** A made-up v1 queue, for shapes the real package makes too seldom. */
export interface Seed {
  readonly jobs: readonly SeedJob[];
  readonly meta: Readonly<Record<string, string>>;
  /** Ids without a hash, by state. */
  readonly dangling: readonly Pick<SeedJob, "id" | "state" | "score">[];
  readonly dedups: readonly { readonly id: string; readonly job: string; readonly ttl: number }[];
}

/** Writes the queue as v1 would. */
export async function plant(client: Redis, base: string, seed: Seed): Promise<void> {
  const batch = client.pipeline();
  const put = ({ id, state, score }: Pick<SeedJob, "id" | "state" | "score">): void => {
    if (state === "wait" || state === "paused") batch.lpush(`${base}${state}`, id);
    else batch.zadd(`${base}${state}`, score, id);
  };
  if (Object.keys(seed.meta).length > 0) batch.hset(`${base}meta`, seed.meta);
  batch.set(`${base}id`, seed.jobs.length);
  batch.xadd(`${base}events`, "*", "event", "added");
  for (const job of seed.jobs) {
    batch.hset(`${base}${job.id}`, { name: "job", priority: String(job.priority), ...job.fields });
    if (job.logs.length > 0) batch.rpush(`${base}${job.id}:logs`, ...job.logs);
    put(job);
  }
  for (const member of seed.dangling) put(member);
  for (const { id, job, ttl } of seed.dedups) {
    if (ttl > 0) batch.set(`${base}de:${id}`, job, "PX", ttl);
    else batch.set(`${base}de:${id}`, job);
  }
  for (const [error] of (await batch.exec()) ?? []) if (error) throw error;
}
