import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { uniqueQueue } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { startCli } from "../support/cli.js";
import { ENGINES, openBench } from "../support/servers.js";
import { cloneQueue, v2State } from "../support/state.js";
import { makeV1 } from "../support/v1.js";

/** Phases of the stamp in which the process is killed, one after the other. */
const PHASES = ["fence", "copy", "copy", "verify"];

describe.each(ENGINES)("kill -9 of the tool on %s", (engine) => {
  test("in any phase: the same command goes on and comes to the same result", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("killed");
    const whole = uniqueQueue("whole");
    await makeV1({ url: bench.url, queue, waiting: 400 });
    await cloneQueue(bench.client, queue, whole);
    await (await bench.migration({ queue: whole })).runAll();
    const stamp = `emq:{${queue}}:meta`;
    const args = ["--url", bench.url, "--queue", queue, "--json"];
    for (const phase of PHASES) {
      const run = startCli("run", ...args, "--batch", "1");
      const killed = run.done.then(() => true);
      while (run.process.exitCode === null) {
        const text = await bench.client.get(stamp);
        if (text !== null && (text.endsWith(`:${phase}`) || text === "echomq:2.0.0")) break;
        await Promise.race([sleep(1), killed]);
      }
      await sleep(randomInt(0, 30));
      run.process.kill("SIGKILL");
      await killed;
    }
    const { status, stdout, stderr } = await startCli("run", ...args).done;
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ phase: "commit" });
    expect(await v2State(bench.client, queue)).toEqual(await v2State(bench.client, whole));
  });
});
