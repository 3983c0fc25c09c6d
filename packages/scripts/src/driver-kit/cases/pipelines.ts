import { check, faultOf, same } from "../check.js";
import type { KitCase } from "../types.js";

/** Cases on several commands at once. */
export const pipelineCases: readonly KitCase[] = [
  {
    id: "pipeline.order",
    title: "replies come in the order of the commands",
    async run({ open, key }) {
      const driver = await open();
      const commands = Array.from({ length: 300 }, () => ["INCR", key("n")]);
      const outcomes = await driver.pipeline(commands);
      same(
        outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.error.message)),
        commands.map((_, i) => i + 1),
        "300 times INCR",
      );
    },
  },
  {
    id: "pipeline.independent",
    title: "an error inside a pipeline is that command's outcome only",
    async run({ open, key }) {
      const driver = await open();
      const outcomes = await driver.pipeline([
        ["SET", key("a"), "text"],
        ["LPUSH", key("a"), "x"],
        ["EVAL", "return redis.error_reply('EMQSTALE detail')", "1", key("a")],
        ["GET", key("a")],
      ]);
      same(outcomes.length, 4, "outcomes");
      const [set, push, script, get] = outcomes;
      check(set?.ok === true && set.value === "OK", "SET succeeds");
      check(push?.ok === false, "LPUSH fails");
      check(push.error.message.startsWith("WRONGTYPE "), `LPUSH: ${push.error.message}`);
      check(script?.ok === false, "the script fails");
      same(await faultOf(Promise.reject(script.error), "reply"), "EMQSTALE detail", "the script");
      check(get?.ok === true && get.value === "text", "GET succeeds");
    },
  },
  {
    id: "pipeline.empty",
    title: "an empty pipeline has no outcomes",
    async run({ open }) {
      same(await (await open()).pipeline([]), [], "outcomes");
    },
  },
  {
    id: "pipeline.slots",
    title: "a pipeline over keys of several slots is answered whole and in order",
    async run({ open, key }) {
      const driver = await open();
      const keys = Array.from({ length: 64 }, (_, i) => `${key("a")}`.replace("{", `{${i}-`));
      const sets = await driver.pipeline(keys.map((name, i) => ["SET", name, String(i)]));
      same(sets.filter(({ ok }) => !ok).length, 0, "failed");
      const script = "return redis.call('GET', KEYS[1])";
      const gets = await driver.pipeline(keys.map((name) => ["EVAL", script, "1", name]));
      same(
        gets.map((outcome) => (outcome.ok ? outcome.value : outcome.error.message)),
        keys.map((_, i) => String(i)),
        "values",
      );
      await driver.pipeline(keys.map((name) => ["DEL", name]));
    },
  },
  {
    id: "command.concurrent",
    title: "a thousand commands at once keep their order",
    async run({ open, key }) {
      const driver = await open();
      const calls = Array.from({ length: 1000 }, () => driver.command(["INCR", key("n")]));
      same(
        await Promise.all(calls),
        calls.map((_, i) => i + 1),
        "a thousand times INCR",
      );
    },
  },
  {
    id: "command.arguments-kept",
    title: "the caller's arrays of arguments are not changed",
    async run({ open, key }) {
      const driver = await open();
      const args = Object.freeze(["SET", key("a"), new Uint8Array([49])]);
      await driver.command(args);
      await driver.pipeline(Object.freeze([args]));
      check(args[2] instanceof Uint8Array && args[0] === "SET", "arguments changed");
    },
  },
];
