import type { RedisDriver } from "../driver/types.js";
import { settled } from "./check.js";
import type { DriverFactory, KitCase, KitContext } from "./types.js";

let cases = 0;

/**
 * Runs one case and closes every lane it opened.
 * @throws Error with one sentence when the driver does not behave as the case says.
 */
export async function runCase(kitCase: KitCase, factory: DriverFactory): Promise<void> {
  const tag = `echomq-kit-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}-${++cases}`;
  const drivers: RedisDriver[] = [];
  const names = new Set<string>();
  const own = <T extends RedisDriver>(driver: T): T => {
    drivers.push(driver);
    return driver;
  };
  const open = async (): Promise<RedisDriver> => own(await settled(factory.open(), "open"));
  const key = (name: string): string => {
    names.add(name);
    return `{${tag}}:${name}`;
  };
  const context: KitContext = { factory, open, own, key, route: { key: `{${tag}}` } };
  try {
    await kitCase.run(context);
  } finally {
    await Promise.all(drivers.map((driver) => settled(driver.close("now"), "close")));
    await sweep(factory, [...names].map(key));
  }
}

async function sweep(factory: DriverFactory, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const driver = await settled(factory.open(), "open");
  await driver.pipeline(keys.map((key) => ["DEL", key]));
  await driver.close();
}
