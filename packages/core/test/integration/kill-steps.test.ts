import { type Engine, startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.js";
import { type Bundle, bundleProgram } from "../support/bundle.js";
import { runProgram } from "../support/child.js";
import { lifeOf, lifeOptions } from "../support/programs/mortal-jobs.js";
import { until } from "../support/until.js";

/** How many processes live at a time. */
const AT_ONCE = 6;

/** Jobs claimed ahead, and how often one step may come in a life before it is taken for known. */
const MODES: readonly [string, Engine, number, number][] = [
  ["claiming what is free", "redis", 0, Number.POSITIVE_INFINITY],
  ["claiming ahead", "valkey", 4, 2],
];

/** Steps that every life of these jobs has. */
const STEPS =
  "init node add step begin finish renew promote heartbeat data progress log owed ack count"
    .split(" ")
    .flatMap((script) => [`before ${script}`, `after ${script}`]);

describe.each(MODES)(
  "kill -9 at every step of a job's life, %s",
  (_mode, engine, claimAhead, most) => {
    let server: TestServer;
    let program: Bundle;

    beforeAll(async () => {
      server = await startServer({ engine });
      program = await bundleProgram("mortal");
    });

    afterAll(async () => {
      await program?.remove();
      await server?.stop();
    });

    /** One life that ends when it comes to a step for the nth time, and what follows; whether it did. */
    async function die(step: string, nth: number): Promise<boolean> {
      const bench = Bench.on(server.url);
      const { url, name } = bench;
      const { lines, end } = await runProgram(program.file, {
        url,
        name,
        die: step,
        nth,
        claimAhead,
      });
      const words = lines.map((line) => line.split(" "));
      const died = words.find(([word]) => word === "died");
      expect(end, lines.join("\n")).toBe(died ? "SIGKILL" : 0);
      const added = words.filter(([word]) => word === "added");
      const begun = words.filter(([word]) => word === "begun").map(([, which]) => which);

      // Its leases are far longer than the test: only what the dead one held can run out.
      const queue = bench.queue();
      const worker = bench.worker(
        lifeOf((line) => begun.push(line.split(" ")[1])),
        {
          ...lifeOptions(name),
          lockDuration: 3_600_000,
          concurrency: 5,
        },
      );
      // A worker gives owners a lease's length after it has connected; this one is to sweep at once.
      const sweeper = bench.worker(() => undefined, { ...lifeOptions(name), lockDuration: 100 });
      sweeper.pause();
      const what = died ? `${step} no. ${nth}` : "its end";
      await until(`all is done after ${what}`, async () => {
        const open = await queue.getJobCounts("waiting", "prioritized", "delayed", "active");
        const left = await bench.client.exists(bench.key("outbox"), bench.key("trash"));
        return Object.values(open).every((count) => count === 0) && left === 0;
      });

      const found = new Map<string, number>();
      for (const { name: which, attemptsMade, failedReason } of await queue.getJobs()) {
        found.set(which, (found.get(which) ?? 0) + 1);
        const twice = which === "again" || which === "put-off";
        expect(attemptsMade, `attempts of ${which} after ${what}`).toBe(twice ? 2 : 1);
        if (which !== "again" && which !== "put-off") {
          expect(failedReason, what).toBe(which === "bad" ? "bad" : undefined);
        }
      }
      // Once each, whether its add was answered or not; what was answered is there, and has run.
      expect(
        [...found.values()].every((count) => count === 1),
        what,
      ).toBe(true);
      for (const [, , which = ""] of added) {
        expect(begun, what).toContain(which);
        if (which !== "gone") expect(found.has(which), `${which} after ${what}`).toBe(true);
      }
      expect(found.has("gone"), what).toBe(false);
      const { failed, completed } = await queue.getJobCounts();
      expect([failed, failed + completed], what).toEqual([found.has("bad") ? 1 : 0, found.size]);
      expect(
        (await bench.queue({}, `${name}-dead`).getJobs()).map(({ data }) => data),
        what,
      ).toEqual(found.has("bad") ? [0] : []);
      expect(await bench.client.hlen(bench.key("owners")), what).toBe(0);
      expect((await queue.doctor()).findings, what).toEqual([]);
      await Promise.all([worker.close(), sweeper.close()]);
      return died !== undefined;
    }

    test("every job ends, once, and nothing is left", { timeout: 240_000 }, async () => {
      const { url } = server;
      const { name } = Bench.on(url);
      const whole = await runProgram(program.file, { url, name, die: "", nth: 0, claimAhead });
      expect(whole.end).toBe(0);
      const steps = whole.lines.at(-1)?.replace("steps ", "").split(",") ?? [];
      expect(steps).toEqual(expect.arrayContaining(STEPS));
      const times = new Map<string, number>();
      const lives = steps.flatMap((step): [string, number][] => {
        const nth = (times.get(step) ?? 0) + 1;
        times.set(step, nth);
        return nth <= most ? [[step, nth]] : [];
      });
      const met = new Set<string>();
      const one = async (): Promise<void> => {
        for (let life = lives.shift(); life; life = lives.shift()) {
          if (await die(...life)) met.add(life[0]);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      expect([...met]).toEqual(expect.arrayContaining(STEPS));
    });
  },
);
