import { LeakCheck, startCluster, type TestCluster } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isDriverFault } from "../../src/driver/types.js";
import { runDriverKit } from "../../src/driver-kit/index.js";
import { keySlot } from "../../src/lane/slots.js";
import { ioredisMakers, nodeRedisMakers } from "../support/makers.js";

const [first] = ioredisMakers;
// The cluster lane is the same for all: one version of each client runs every case.
const wholeKit = [first, nodeRedisMakers.at(-1)];
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster?.stop());

for (const maker of [...ioredisMakers, ...nodeRedisMakers]) {
  describe(`${maker.name} on a cluster`, () => {
    if (wholeKit.includes(maker)) {
      runDriverKit({ open: () => maker.openCluster(cluster.urls) }, { test });
    }

    test("one start node is enough to find all", async () => {
      const driver = await maker.openCluster(cluster.urls.slice(1, 2));
      onTestFinished(() => driver.close("now"));
      const keys = Array.from({ length: 200 }, (_, i) => `k${i}`);
      const outcomes = await driver.pipeline(keys.map((key) => ["INCR", key]));
      expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
      await driver.pipeline(keys.map((key) => ["DEL", key]));
      expect(driver.info.cluster).toBe(true);
    });

    test("names that mean nothing: one is passed over, all are told at once", async () => {
      const nowhere = (n: number) => `redis://${"x".repeat(70)}.${n}.invalid:6379`;
      const fault = await maker
        .openCluster([nowhere(1), nowhere(2)], 600_000)
        .catch((error: unknown) => error);
      expect(isDriverFault(fault, "offline")).toBe(true);
      expect((fault as Error).message).toContain("ENOTFOUND");
      // ioredis itself looks up all of them first.
      const some = maker.name.startsWith("ioredis") ? [] : [nowhere(1)];
      const driver = await maker.openCluster([...some, ...cluster.urls]);
      onTestFinished(() => driver.close("now"));
      expect(driver.state.status).toBe("ready");
      const gone = await driver.fork("lease", AbortSignal.abort()).catch((error: unknown) => error);
      expect(isDriverFault(gone, "closed")).toBe(true);
    });

    test("nothing is left open after close", async () => {
      const checks = await Promise.all(
        cluster.urls.map((url) => LeakCheck.start(url, { name: "echomq" })),
      );
      const driver = await maker.openCluster(cluster.urls);
      const lane = await driver.fork("blocking");
      const blocked = lane.command(["BLPOP", "none", "0"]).catch((error: Error) => error);
      await Promise.all([driver.close(), lane.close("now")]);
      expect(isDriverFault(await blocked, "connection")).toBe(true);
      for (const check of checks) await check.end();
    });

    test("a slot that moved is followed, before and after it is known", async () => {
      const driver = await maker.openCluster(cluster.urls);
      onTestFinished(() => driver.close("now"));
      const key = "moving";
      const slot = String(keySlot(key));
      const nodes = await Promise.all(cluster.urls.map((url) => maker.open(url)));
      const ids = await Promise.all(nodes.map((node) => node.command(["CLUSTER", "MYID"])));
      const owners = await Promise.all(
        nodes.map((node) => node.command(["GET", key]).then(Boolean.bind(null, true), () => false)),
      );
      const source = owners.indexOf(true);
      const target = (source + 1) % 3;
      const [from, to] = [nodes[source], nodes[target]];
      const [fromId, toId] = [String(ids[source]), String(ids[target])];
      await to?.command(["CLUSTER", "SETSLOT", slot, "IMPORTING", fromId]);
      await from?.command(["CLUSTER", "SETSLOT", slot, "MIGRATING", toId]);
      expect(await driver.command(["SET", key, "asked"])).toBe("OK");
      for (const node of [to, from]) {
        await node?.command(["CLUSTER", "SETSLOT", slot, "NODE", toId]);
      }
      expect(await driver.command(["GET", key])).toBe("asked");
      expect(await driver.command(["DEL", key])).toBe(1);
      await Promise.all(nodes.map((node) => node.close()));
    });

    test("a node that goes takes its keys offline, not the others", async () => {
      const own = await startCluster();
      onTestFinished(() => own.stop());
      const driver = await maker.openCluster(own.urls);
      onTestFinished(() => driver.close("now"));
      const [node] = own.nodes;
      const keys = Array.from({ length: 60 }, (_, i) => `k${i}`);
      await node?.kill();
      await expect.poll(() => driver.state.status).toBe("reconnecting");
      const outcomes = await driver.pipeline(keys.map((key) => ["EXISTS", key]));
      const errors = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error]));
      expect(errors.length).toBeGreaterThan(0);
      expect(errors.length).toBeLessThan(keys.length);
      await node?.restart();
      await expect
        .poll(() => driver.state, { timeout: 20_000 })
        .toEqual({
          status: "ready",
          epoch: 2,
        });
      await expect
        .poll(
          async () => {
            const again = await driver.pipeline(keys.map((key) => ["EXISTS", key]));
            return again.every(({ ok }) => ok);
          },
          { timeout: 20_000 },
        )
        .toBe(true);
    });
  });
}
