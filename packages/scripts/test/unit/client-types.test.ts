import type { Cluster, Redis } from "ioredis";
import type { Cluster as Cluster6, Redis as Redis6 } from "ioredis-6";
import type { createClient, createCluster } from "redis";
import type { createClient as createClient6, createCluster as createCluster6 } from "redis-6";
import { expectTypeOf, test } from "vitest";
import type { IoredisClient } from "../../src/ioredis/index.js";
import type { NodeRedisClient } from "../../src/node-redis/index.js";

test("ioredis 5 and 6 fit, single and cluster", () => {
  expectTypeOf<Redis | Cluster>().toExtend<IoredisClient>();
  expectTypeOf<Redis6 | Cluster6>().toExtend<IoredisClient>();
});

test("node-redis 5 and 6 fit, single and cluster", () => {
  type Five = ReturnType<typeof createClient> | ReturnType<typeof createCluster>;
  type Six = ReturnType<typeof createClient6> | ReturnType<typeof createCluster6>;
  expectTypeOf<Five>().toExtend<NodeRedisClient>();
  expectTypeOf<Six>().toExtend<NodeRedisClient>();
});
