import type { DriverState, RedisDriver, Route } from "../../driver/types.js";
import { check, faultOf, later, same, settled, until } from "../check.js";
import type { KitCase } from "../types.js";

async function kill(victim: RedisDriver, by: RedisDriver, route: Route): Promise<void> {
  const id = await victim.command(["CLIENT", "ID"], route);
  await by.command(["CLIENT", "KILL", "ID", String(id)], route);
}

function recovered(driver: RedisDriver, epoch: number): Promise<void> {
  return until(
    () => driver.state.status === "ready" && driver.state.epoch >= epoch,
    `epoch ${epoch}`,
  );
}

/** Cases on a connection that goes. */
export const lossCases: readonly KitCase[] = [
  {
    id: "loss.epoch",
    title: "a lost connection is told, comes back by itself and counts as a new epoch",
    async run({ open, route }) {
      const [driver, other] = [await open(), await open()];
      const seen: DriverState[] = [];
      const stop = driver.onState((state) => seen.push(state));
      await kill(driver, other, route);
      await recovered(driver, 2);
      const down = seen.find(({ status }) => status === "reconnecting");
      check(down !== undefined, "no listener heard of the loss");
      check(down.error instanceof Error, "the state of a lost connection has no error");
      same(down.epoch, 1, "epoch while down");
      same(driver.state.epoch, 2, "epoch after one loss");
      same(driver.state.error, undefined, "error once ready");
      same(await driver.command(["PING"], route), "PONG", "PING after the loss");
      stop();
      const heard = seen.length;
      await driver.close("now");
      same(seen.length, heard, "calls of a listener that was removed");
      same(other.state.epoch, 1, "epoch of the other driver");
    },
  },
  {
    id: "loss.in-flight",
    title: "what is in flight when the connection goes is a connection fault, each part of it",
    async run({ open, key, route }) {
      const [driver, other] = [await open(), await open()];
      const id = await driver.command(["CLIENT", "ID"], route);
      const blocked = driver.command(["BLPOP", key("l"), "0"]);
      const behind = driver.pipeline([["PING"], ["GET", key("a")]], route);
      const failed = later(faultOf(blocked, "connection"));
      await until(async () => {
        const info = await other.command(["CLIENT", "LIST", "ID", String(id)], route);
        return String(info).includes("cmd=blpop");
      }, "BLPOP to block");
      await other.command(["CLIENT", "KILL", "ID", String(id)], route);
      await failed;
      const outcomes = await settled(behind, "the pipeline behind BLPOP");
      same(outcomes.length, 2, "outcomes");
      for (const outcome of outcomes) {
        check(!outcome.ok, "a command behind BLPOP cannot have been answered");
        await faultOf(Promise.reject(outcome.error), "connection");
      }
    },
  },
  {
    id: "loss.no-resend",
    title: "a command is never sent twice",
    async run({ open, key, route }) {
      const [driver, other] = [await open(), await open()];
      for (let round = 1; round <= 10; round++) {
        const counter = key(`n${round}`);
        const id = await driver.command(["CLIENT", "ID"], route);
        const calls = [
          driver.command(["BLPOP", key("l"), "0"]),
          driver.command(["INCR", counter]),
          driver.command(["INCR", counter]),
        ].map((call) => later(faultOrReply(call)));
        await until(async () => {
          const info = await other.command(["CLIENT", "LIST", "ID", String(id)], route);
          return String(info).includes("cmd=blpop");
        }, "BLPOP to block");
        // In one write the server may or may not run the counters before the connection goes.
        if (round % 2 === 0) await other.command(["CLIENT", "KILL", "ID", String(id)], route);
        else {
          await other.pipeline(
            [
              ["RPUSH", key("l"), "x"],
              ["CLIENT", "KILL", "ID", String(id)],
            ],
            route,
          );
        }
        const [, ...counted] = await settled(Promise.all(calls), "the calls in flight");
        await recovered(driver, round + 1);
        await driver.command(["PING"], route);
        const count = Number((await other.command(["GET", counter])) ?? 0);
        const answered = counted.filter((outcome) => outcome === "reply").length;
        check(count >= answered && count <= 2, `2 commands ran ${count} times`);
        if (round % 2 === 0) same(count, 0, "runs of commands behind a blocked one");
        await other.command(["DEL", key("l")]);
      }
    },
  },
  {
    id: "loss.offline",
    title: "without a connection a command fails at once and is not kept for later",
    async run({ open, key, route }) {
      const [driver, other] = [await open(), await open()];
      const first: Promise<string>[] = [];
      let outcomes: Promise<readonly { ok: boolean }[]> | undefined;
      driver.onState(({ status }) => {
        if (status !== "reconnecting" || first.length > 0) return;
        first.push(later(faultOf(driver.command(["INCR", key("n")]), "offline")));
        outcomes = driver.pipeline([
          ["INCR", key("n")],
          ["INCR", key("n")],
        ]);
      });
      await kill(driver, other, route);
      await until(() => first.length > 0, "the loss to be told");
      await Promise.all(first);
      const parts = await settled(outcomes ?? Promise.resolve([]), "the pipeline");
      same(
        parts.map(({ ok }) => ok),
        [false, false],
        "outcomes of a pipeline without connection",
      );
      await recovered(driver, 2);
      await driver.command(["PING"], route);
      same(await driver.command(["GET", key("n")]), null, "a counter of commands never sent");
    },
  },
  {
    id: "loss.outage",
    title: "a driver outlives an outage of the server",
    needs: "outage",
    async run({ factory, own, key }) {
      const server = await factory.outage?.();
      check(server !== undefined, "the factory has no outage");
      try {
        const driver = own(await server.open());
        const blocking = own(await driver.fork("blocking"));
        const blocked = blocking.command(["BLPOP", key("l"), "0"]);
        const waiting = later(faultOf(blocked, "connection"));
        await driver.command(["SET", key("a"), "1"]);
        await server.stop();
        await waiting;
        await until(() => driver.state.status === "reconnecting", "the loss to be told");
        await faultOf(driver.command(["GET", key("a")]), "offline");
        await server.start();
        await Promise.all([recovered(driver, 2), recovered(blocking, 2)]);
        same(await driver.command(["SET", key("a"), "2"]), "OK", "SET after the outage");
        await server.stop();
        await until(() => driver.state.status === "reconnecting", "the second loss to be told");
        await settled(driver.close("now"), "close while reconnecting");
        await settled(blocking.close("drain"), "close while reconnecting");
        await faultOf(driver.command(["GET", key("a")]), "closed");
      } finally {
        await server.end();
      }
    },
  },
];

async function faultOrReply(call: Promise<unknown>): Promise<"reply" | "fault"> {
  try {
    await call;
    return "reply";
  } catch (error) {
    await faultOf(Promise.reject(error), "connection");
    return "fault";
  }
}
