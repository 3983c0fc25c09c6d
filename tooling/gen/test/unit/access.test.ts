import { expect, test } from "vitest";
import { scriptAccess } from "../../src/access.js";

const spec: Parameters<typeof scriptAccess>[0] = {
  keys: ["stamp", "meta", "wait"],
  groups: [{ name: "jobs", kinds: ["job"] }],
};

test("positions become the names of the data, and what is not touched is left out", () => {
  const source = `
    local stamp, meta, wait = KEYS[1], KEYS[2], KEYS[3]
    redis.call('GET', stamp)
    redis.call('LLEN', wait)
    for i = 1, 2 do redis.call('HSET', KEYS[3 + i], 'a', 'b') end`;
  expect(scriptAccess(spec, source)).toEqual({
    commands: ["GET", "HSET", "LLEN"],
    access: { stamp: "r", wait: "-", jobs: "w" },
  });
});
