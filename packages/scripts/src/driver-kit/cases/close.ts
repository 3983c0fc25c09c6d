import { faultOf, later, same, settled, until } from "../check.js";
import type { KitCase } from "../types.js";

/** Cases on the end of a lane. */
export const closeCases: readonly KitCase[] = [
  {
    id: "close.closed",
    title: "after close everything is a closed fault, and closing again is harmless",
    async run({ open, key }) {
      const driver = await open();
      const seen: string[] = [];
      driver.onState(({ status }) => seen.push(status));
      await driver.close();
      same(driver.state.status, "closed", "status");
      same(seen, ["closed"], "states told");
      await faultOf(driver.command(["GET", key("a")]), "closed");
      const [outcome] = await driver.pipeline([["GET", key("a")]]);
      if (outcome === undefined || outcome.ok) throw new Error("a pipeline after close succeeded");
      await faultOf(Promise.reject(outcome.error), "closed");
      await faultOf(driver.fork("lease"), "closed");
      await driver.close("now");
      await driver.close("drain");
    },
  },
  {
    id: "close.drain",
    title: "close with drain lets what is in flight finish",
    async run({ open, key }) {
      const [driver, other] = [await open(), await open()];
      const calls = Array.from({ length: 100 }, () => driver.command(["INCR", key("n")]));
      await settled(driver.close("drain"), "close");
      same((await Promise.all(calls)).at(-1), 100, "the last reply");
      same(await other.command(["GET", key("n")]), "100", "the counter");
    },
  },
  {
    id: "close.now-blocked",
    title: "close now ends a blocked lane, and what was in flight is a connection fault",
    async run({ open, key }) {
      const driver = await open();
      const waiting = later(faultOf(driver.command(["BZPOPMIN", key("z"), "0"]), "connection"));
      await settled(driver.close("now"), "close");
      await waiting;
    },
  },
  {
    id: "close.drain-blocked",
    title: "close with drain does not wait for ever for a blocked command",
    async run({ open, key }) {
      const driver = await open();
      const waiting = later(faultOf(driver.command(["BZPOPMIN", key("z"), "0"]), "connection"));
      await settled(driver.close("drain"), "close");
      await waiting;
    },
  },
  {
    id: "close.now-cuts-drain",
    title: "close now ends a close with drain that still waits",
    async run({ open, key }) {
      const driver = await open();
      const waiting = later(faultOf(driver.command(["BZPOPMIN", key("z"), "0"]), "connection"));
      const draining = driver.close("drain");
      await settled(driver.close("now"), "close now");
      await settled(Promise.all([draining, waiting]), "the close with drain");
    },
  },
  {
    id: "close.reconnecting",
    title: "close while reconnecting ends it for good",
    async run({ open, route }) {
      const other = await open();
      for (const mode of ["now", "drain"] as const) {
        const driver = await open();
        const id = await driver.command(["CLIENT", "ID"], route);
        let closing: Promise<void> | undefined;
        driver.onState(({ status }) => {
          if (status === "reconnecting") closing ??= driver.close(mode);
        });
        await other.command(["CLIENT", "KILL", "ID", String(id)], route);
        await until(() => closing !== undefined, "the loss to be told");
        await settled(closing ?? Promise.resolve(), "close");
        same(driver.state.status, "closed", "status");
        same(driver.state.epoch, 1, "epoch");
      }
    },
  },
  {
    id: "close.forks-live",
    title: "closing a lane closes that lane only",
    async run({ open, own, route }) {
      const driver = await open();
      const lane = own(await driver.fork("lease"));
      await lane.close("now");
      same(await driver.command(["PING"], route), "PONG", "PING of the lane that was forked");
    },
  },
  {
    id: "open.unreachable",
    title: "an address where nothing listens is a fault, not a hang",
    needs: "unreachable",
    async run({ factory }) {
      const opening = factory.unreachable?.() ?? Promise.resolve();
      await faultOf(opening, "offline");
    },
  },
];
