import { check, later, same, settled } from "../check.js";
import type { KitCase } from "../types.js";

/** Cases on lanes. */
export const laneCases: readonly KitCase[] = [
  {
    id: "lane.first-state",
    title: "a fresh driver is ready and in its first epoch",
    async run({ open }) {
      const { state, info } = await open();
      same(state.status, "ready", "status");
      same(state.epoch, 1, "epoch");
      check(info.name.length > 0, "info.name is empty");
    },
  },
  {
    id: "lane.fork",
    title: "every fork is a connection of its own and outlives the others",
    async run({ open, own, route }) {
      const driver = await open();
      const lanes = [driver];
      for (const role of ["main", "lease", "blocking", "events"] as const) {
        lanes.push(own(await driver.fork(role)));
      }
      const ids = await Promise.all(lanes.map((lane) => lane.command(["CLIENT", "ID"], route)));
      same(new Set(ids).size, lanes.length, `connections of ids ${ids.join(", ")}`);
      await driver.close("now");
      for (const lane of lanes.slice(1)) same(await lane.command(["PING"], route), "PONG", "PING");
    },
  },
  {
    id: "lane.blocking",
    title: "a blocking lane waits on the server and does not hold up the main lane",
    async run({ open, own, key }) {
      const driver = await open();
      const blocking = own(await driver.fork("blocking"));
      const waiting = later(blocking.command(["BZPOPMIN", key("z"), "0"]));
      for (let i = 0; i < 20; i++) await driver.command(["SET", key("a"), String(i)]);
      await driver.command(["ZADD", key("z"), "7", "marker"]);
      const reply = await settled(waiting, "BZPOPMIN to be woken");
      same(reply, [key("z"), "marker", "7"], "BZPOPMIN");
    },
  },
  {
    id: "lane.blocking-timeout",
    title: "a blocking command that times out answers null",
    async run({ open, own, key }) {
      const blocking = own(await (await open()).fork("blocking"));
      const reply = await settled(blocking.command(["BZPOPMIN", key("z"), "0.05"]), "BZPOPMIN");
      same(reply, null, "BZPOPMIN that timed out");
    },
  },
];
