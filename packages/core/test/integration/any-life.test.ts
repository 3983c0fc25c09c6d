import { startServer, type TestServer } from "@echomq/testkit";
import * as fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, test } from "vitest";
import { ENGINES } from "../support/bench.js";
import { anyAct } from "../support/model/acts.js";
import { agreeInTheEnd } from "../support/model/agree.js";
import { WorldClock } from "../support/model/clock.js";
import { ActCommand } from "../support/model/play.js";
import { Real } from "../support/model/real.js";
import { World } from "../support/model/world.js";

/** How many runs, of up to how many acts. */
const RUNS = Number(process.env.ECHOMQ_MODEL_RUNS ?? 25);
const ACTS = Number(process.env.ECHOMQ_MODEL_ACTS ?? 200);
/** One run again, as a failure prints it: `<seed>`, or `<seed> <path> <replay path>`. */
const [SEED, PATH, REPLAY] = process.env.ECHOMQ_MODEL_SEED?.split(" ") ?? [];

describe.each(ENGINES)("any life of a queue on %s", (engine) => {
  let server: TestServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startServer({ engine });
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  test("is what the model says", { timeout: 3_600_000 }, async () => {
    const seed = Number(SEED ?? Date.now() % 2 ** 31);
    process.stdout.write(`model on ${engine}: seed ${seed}, ${RUNS} runs of up to ${ACTS} acts\n`);
    const commands = fc.commands([anyAct.map((act) => new ActCommand(act))], {
      maxCommands: ACTS,
      size: "max",
      ...(REPLAY === undefined ? {} : { replayPath: REPLAY }),
    });
    const property = fc.asyncProperty(commands, async (acts) => {
      const clock = new WorldClock();
      const real = new Real(server.url, client, clock);
      const world = new World();
      clock.install();
      try {
        await real.start();
        await fc.asyncModelRun(() => ({ model: world, real }), acts);
        await agreeInTheEnd(world, real);
      } finally {
        clock.restore();
        await real.stop();
      }
    });
    const found = await fc.check(property, {
      numRuns: RUNS,
      seed,
      ...(PATH === undefined ? {} : { path: PATH }),
    });
    if (!found.failed) return;
    const [acts] = found.counterexample ?? [];
    const [, replay = ""] = /replayPath="([^"]*)"/.exec(String(acts)) ?? [];
    const again = `ECHOMQ_MODEL_SEED="${found.seed} ${found.counterexamplePath} ${replay}"`;
    const played = [...(acts ?? [])].map(String).join("\n");
    throw new Error(`${again}\n${played}`, { cause: found.errorInstance });
  });
});
