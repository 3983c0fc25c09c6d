import { createHash } from "node:crypto";
import { type DriverState, isDriverFault, type RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  FlakyPlan,
  flakyDriver,
  ofCommand,
  ofScript,
  sharedServer,
  uniqueQueue,
} from "../../src/index.js";

const SOURCE = "return redis.call('INCR', KEYS[1])";
const script = { sha: createHash("sha1").update(SOURCE).digest("hex") };

let plan: FlakyPlan;
let driver: RedisDriver;
let key: string;

beforeEach(async () => {
  const { url } = await sharedServer("redis");
  plan = new FlakyPlan();
  driver = flakyDriver(await ioredisDriver(new Redis(url, { lazyConnect: true })), plan);
  key = uniqueQueue();
});

afterEach(async () => {
  await driver.command(["DEL", key]);
  await driver.close();
});

async function faultOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isDriverFault(error)) throw new Error(`expected a fault, got ${String(error)}`);
  return error.fault;
}

function kinds(outcomes: Awaited<ReturnType<RedisDriver["pipeline"]>>): unknown[] {
  return outcomes.map((one) => {
    if (one.ok) return one.value;
    return isDriverFault(one.error) ? one.error.fault : one.error;
  });
}

describe("a flaky driver", () => {
  test("without rules is the driver it was made of", async () => {
    expect(driver.info).toEqual({ name: "ioredis", cluster: false, protocol: 2 });
    expect(driver.state).toMatchObject({ status: "ready", epoch: 1 });
    expect(await driver.command(["SET", key, "1"])).toBe("OK");
    expect(
      kinds(
        await driver.pipeline([
          ["INCR", key],
          ["LPUSH", key, "x"],
        ]),
      ),
    ).toEqual([2, "reply"]);
  });

  test("offline sends nothing and leaves the connection as it was", async () => {
    const rule = plan.on(ofCommand("incr"), { kind: "offline" });
    expect(await faultOf(driver.command(["INCR", key]))).toBe("offline");
    await rule.spent;
    expect(await driver.command(["INCR", key])).toBe(1);
    expect(driver.state.epoch).toBe(1);
    expect([rule.seen, rule.hits]).toEqual([2, 1]);
  });

  test("lost runs the command, fails it and raises the epoch", async () => {
    const states: DriverState[] = [];
    const stop = driver.onState((state) => states.push(state));
    plan.on(ofCommand("INCR"), { kind: "lost" });
    expect(await faultOf(driver.command(["INCR", key]))).toBe("connection");
    expect(states.map(({ status, epoch }) => [status, epoch])).toEqual([
      ["reconnecting", 1],
      ["ready", 2],
    ]);
    expect(driver.state).toMatchObject({ status: "ready", epoch: 2 });
    expect(await driver.command(["GET", key])).toBe("1");
    stop();
  });

  test("lost takes along what else is in flight on the lane, not on others", async () => {
    const other = await driver.fork("blocking");
    const waiting = other.command(["BLPOP", `${key}:none`, "0"]);
    const gate = new Promise((resolve) => setImmediate(resolve));
    plan.on(ofCommand("PING"), { kind: "late", until: new Promise(() => {}) });
    plan.on(ofCommand("INCR"), { kind: "lost" });
    const neighbour = driver.command(["PING"]);
    await gate;
    const calls = [faultOf(neighbour), faultOf(driver.command(["INCR", key]))];
    expect(await Promise.all(calls)).toEqual(["connection", "connection"]);
    expect(other.state.epoch).toBe(1);
    await other.close("now");
    expect(await faultOf(waiting)).toBe("connection");
  });

  test("delay sends later, late answers later", async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const delayed = plan.on(ofCommand("INCR"), { kind: "delay", until: gate });
    const call = driver.command(["INCR", key]);
    await delayed.spent;
    expect(await driver.command(["EXISTS", key])).toBe(0);
    open();
    expect(await call).toBe(1);
    let answer = (): void => {};
    const until = new Promise<void>((resolve) => {
      answer = resolve;
    });
    plan.on(ofCommand("INCR"), { kind: "late", until });
    let answered = false;
    const late = driver.command(["INCR", key]).then((value) => {
      answered = true;
      return value;
    });
    await expect.poll(() => driver.command(["GET", key])).toBe("2");
    expect(answered).toBe(false);
    answer();
    expect(await late).toBe(2);
  });

  test("a call delayed by milliseconds is overtaken by the next", async () => {
    plan.on(ofCommand("INCR"), { kind: "delay", ms: 40 });
    const calls = [driver.command(["INCR", key]), driver.command(["INCR", key])];
    expect(await Promise.all(calls)).toEqual([2, 1]);
  });

  test("answer gives the server's text without asking it", async () => {
    plan.on(ofCommand("INCR"), { kind: "answer", text: "READONLY not me" });
    const error = await driver.command(["INCR", key]).catch((reason: unknown) => reason);
    expect(isDriverFault(error, "reply") && error.message).toBe("READONLY not me");
    expect(await driver.command(["EXISTS", key])).toBe(0);
  });

  test("counts per rule over lanes: the third run of a script, twice", async () => {
    const lane = await driver.fork("lease");
    const rule = plan.on(ofScript(script), { kind: "offline" }, { nth: 3, times: 2 });
    const outcomes: unknown[] = [];
    for (const one of [driver, lane, driver, lane, driver]) {
      const command = outcomes.length === 0 ? ["EVAL", SOURCE] : ["EVALSHA", script.sha];
      outcomes.push(await one.command([...command, "1", key]).catch(() => "offline"));
    }
    expect(outcomes).toEqual([1, 2, "offline", "offline", 3]);
    expect([rule.seen, rule.hits]).toEqual([5, 2]);
    await lane.close();
  });

  test("a rule may ask for a role, and be taken out again", async () => {
    const lane = await driver.fork("lease");
    const rule = plan.on(ofCommand("PING", "lease"), { kind: "offline" }, { times: 10 });
    expect(await driver.command(["PING"])).toBe("PONG");
    expect(await faultOf(lane.command(["PING"]))).toBe("offline");
    rule.remove();
    expect(await lane.command(["PING"])).toBe("PONG");
    await lane.close();
  });

  test("in a pipeline each command has its fault; what follows a lost one is lost", async () => {
    plan.on(ofCommand("SET"), { kind: "offline" });
    plan.on(ofCommand("GET"), { kind: "answer", text: "LOADING" });
    const first = await driver.pipeline([["SET", key, "9"], ["INCR", key], ["GET", key], ["PING"]]);
    expect(kinds(first)).toEqual(["offline", 1, "reply", "PONG"]);
    plan.on(({ name, pipelined }) => name === "PING" && pipelined, { kind: "lost" });
    const second = await driver.pipeline([["INCR", key], ["PING"], ["INCR", key]]);
    expect(kinds(second)).toEqual([2, "connection", "connection"]);
    expect(await driver.command(["GET", key])).toBe("3");
  });

  test("a pipeline in flight when the connection goes fails whole", async () => {
    plan.on(ofCommand("ECHO"), { kind: "late", until: new Promise(() => {}) });
    plan.on(ofCommand("INCR"), { kind: "lost" });
    const batch = driver.pipeline([["ECHO", "a"], ["PING"]]);
    expect(await faultOf(driver.command(["INCR", key]))).toBe("connection");
    expect(kinds(await batch)).toEqual(["connection", "connection"]);
  });
});
