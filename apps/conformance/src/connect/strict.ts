import type { RedisDriver } from "@echomq/scripts";
import { strictDriver } from "@echomq/testkit";
import { Refused } from "../outcome.js";
import { refusesKey, textOf } from "./refusal.js";

/** A script that touches a key it does not declare. */
const UNDECLARED = "return redis.call('EXISTS', ARGV[1])";

/**
 * Opens a driver whose server refuses every key a call does not declare, and makes sure it does.
 * @throws Refused where users cannot be managed, or the server does not look into scripts.
 */
export async function openStrict(
  url: string,
  run: string,
  make: (url: string) => Promise<RedisDriver>,
): Promise<RedisDriver> {
  const driver = await strictDriver({ url, make }).catch((error: unknown) => {
    throw new Refused(textOf(error));
  });
  const [declared, other] = [`echomq-control:${run}`, `echomq-control:${run}:undeclared`];
  const answer = await driver
    .command(["EVAL", UNDECLARED, "1", declared, other])
    .then(() => "", textOf);
  if (refusesKey(answer)) return driver;
  await driver.close("now");
  throw new Refused(
    answer === ""
      ? "this server lets a script touch keys its user has no right to, so strict mode proves nothing"
      : `strict mode cannot be tried out: ${answer}`,
  );
}
