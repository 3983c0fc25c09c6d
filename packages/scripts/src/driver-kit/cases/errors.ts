import { check, faultOf, same } from "../check.js";
import type { KitCase } from "../types.js";

/** Cases on error replies. */
export const errorCases: readonly KitCase[] = [
  {
    id: "error.script-text",
    title: "the text of a script's error arrives unchanged",
    async run({ open, key }) {
      const driver = await open();
      for (const message of ["EMQSTALE detail", "EMQFENCE echomq:9.0.0 {q} é: x"]) {
        const script = `return redis.error_reply('${message}')`;
        const call = driver.command(["EVAL", script, "1", key("a")]);
        same(await faultOf(call, "reply"), message, "text of the error");
      }
    },
  },
  {
    id: "error.wrongtype",
    title: "WRONGTYPE is a reply fault",
    async run({ open, key }) {
      const driver = await open();
      await driver.command(["SET", key("a"), "text"]);
      const message = await faultOf(driver.command(["LPUSH", key("a"), "x"]), "reply");
      check(message.startsWith("WRONGTYPE "), `text of the error: ${message}`);
    },
  },
  {
    id: "error.noscript",
    title: "NOSCRIPT is a reply fault and starts with its code",
    async run({ open, key }) {
      const driver = await open();
      const call = driver.command(["EVALSHA", "f".repeat(40), "1", key("a")]);
      const message = await faultOf(call, "reply");
      check(message.startsWith("NOSCRIPT "), `text of the error: ${message}`);
    },
  },
  {
    id: "error.unknown-command",
    title: "an unknown command is a reply fault and the lane goes on",
    async run({ open, key, route }) {
      const driver = await open();
      const message = await faultOf(driver.command(["ECHOMQNOSUCH", key("a")], route), "reply");
      check(message.startsWith("ERR "), `text of the error: ${message}`);
      same(await driver.command(["SET", key("a"), "1"]), "OK", "the next command");
      same(driver.state.status, "ready", "status");
    },
  },
];
