import { expect } from "vitest";
import { refusal, until } from "../until.js";
import type { PathCase } from "./case.js";

const NODES = 1_024;

/** Cases of what an add meets. */
export const ADDING: readonly PathCase[] = [
  {
    title: "plain jobs go to the back of the line, one by one and many at once",
    scripts: ["push"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const one = await queue.add("x", 0);
      const more = await queue.addBulk([1, 2].map((data) => ({ name: "x", data })));
      const ids = (await queue.getWaiting()).map(({ id }) => id);
      expect(ids).toEqual([one, ...more].map(({ id }) => id));
    },
  },
  {
    title: "a length limit refuses what is beyond it, and is lifted",
    scripts: ["capacity", "push", "add"],
    refusals: ["push EMQRETRY", "add EMQFULL"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      await queue.setMaxLength(2);
      await queue.addBulk([1, 2].map((data) => ({ name: "x", data })));
      expect(await refusal(queue.add("x", 3))).toMatchObject({ code: "EMQFULL" });
      expect(await refusal(queue.addBulk([{ name: "x", data: 3 }]))).toMatchObject({
        code: "EMQFULL",
      });
      expect(await queue.count()).toBe(2);
      await queue.setMaxLength(null);
      await queue.add("x", 3);
      expect(await queue.count()).toBe(3);
    },
  },
  {
    title: "one job of a deduplication id, whoever adds; a successor follows when the id is freed",
    scripts: ["add", "holder", "unlock"],
    refusals: ["add EMQRETRY", "holder EMQRETRY"],
    run: async ({ bench }) => {
      const [one, other] = [bench.queue(), bench.queue()];
      const opts = { deduplication: { id: "d" } };
      const job = await one.add("x", 1, opts);
      // The other one does not know the holder yet, so its first call is told whom to declare.
      expect((await other.add("x", 2, opts)).id).toBe(job.id);
      expect(await other.getDeduplicationJobId("d")).toBe(job.id);
      expect(await one.removeDeduplicationKey("d")).toBe(1);
      expect(await other.getDeduplicationJobId("d")).toBeNull();
      expect((await one.add("x", 3, opts)).id).not.toBe(job.id);
      expect(await one.count()).toBe(2);
    },
  },
  {
    title: "where all node ids are leased no id is minted and nothing is added",
    scripts: ["node"],
    refusals: ["node EMQFULL"],
    run: async ({ bench, driver }) => {
      const queue = bench.queue();
      const key = "{emq}:nodes";
      const later = Date.now() + 3_600_000;
      const rows = Array.from({ length: NODES }, (_, n) => [String(n), `${later}:process-${n}`]);
      await driver.command(["HSET", key, ...rows.flat()], { key });
      const refused = await refusal(queue.add("x", 0));
      await driver.command(["DEL", key], { key });
      expect(refused).toMatchObject({ code: "EMQFULL", name: "WireError" });
      expect(await queue.count()).toBe(0);
      await until("a node id is free", () => queue.add("x", 0));
    },
  },
];
