import { sharedServer } from "@echomq/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Dispatcher, type RedisDriver, ServerClock } from "../../src/index.js";
import { ENGINES, openDriver } from "../support/bench.js";

const HOUR = 3_600_000;

/** A machine and a server whose clocks are moved by hand, on top of the real ones. */
class Times {
  /** Added to the process clock, to the monotonic one, and to the server's. */
  date = 0;
  mono = 0;
  server = 0;
  /** How long the replies to the next `TIME`s are on their way. */
  holds: number[] = [];
  readonly #driver: RedisDriver;

  constructor(driver: RedisDriver) {
    this.#driver = driver;
    const [date, mono] = [Date.now.bind(Date), performance.now.bind(performance)];
    vi.spyOn(Date, "now").mockImplementation(() => date() + this.date);
    vi.spyOn(performance, "now").mockImplementation(() => mono() + this.mono);
  }

  /** Real time passes for everybody. */
  pass(ms: number): void {
    this.date += ms;
    this.mono += ms;
    this.server += ms;
  }

  get driver(): RedisDriver {
    const inner = this.#driver;
    return {
      info: inner.info,
      get state() {
        return inner.state;
      },
      pipeline: (commands, route) => inner.pipeline(commands, route),
      fork: (role) => inner.fork(role),
      onState: (listener) => inner.onState(listener),
      close: (mode) => inner.close(mode),
      command: async (args, route) => {
        const reply = await inner.command(args, route);
        if (args[0] !== "TIME") return reply;
        const [seconds, micros] = reply as readonly string[];
        const time = [String(Number(seconds) + this.server / 1_000), String(micros)];
        this.pass(this.holds.shift() ?? 0);
        return time;
      },
    };
  }
}

describe.each(ENGINES)("the server's clock on %s", (engine) => {
  let driver: RedisDriver;
  beforeAll(async () => {
    driver = await openDriver((await sharedServer(engine)).url);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => driver?.close("now"));

  /** The server's own whole milliseconds, before and after `work`. */
  async function between<T>(work: () => Promise<T>): Promise<[number, T, number]> {
    const time = async (): Promise<number> => {
      const [seconds, micros] = (await driver.command(["TIME"])) as readonly string[];
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    };
    return [await time(), await work(), await time()];
  }

  test("now lies where the server's own time does, in whole ms", async () => {
    const clock = new ServerClock(Dispatcher.over(driver), "k");
    expect(clock.read()).toBe(0);
    for (let n = 0; n < 20; n++) {
      const [before, now, after] = await between(() => clock.now());
      expect(Number.isSafeInteger(now)).toBe(true);
      // Half a round trip, and the fraction a whole ms leaves out.
      expect(now).toBeGreaterThanOrEqual(before - (after - before) - 1_000);
      expect(now).toBeLessThanOrEqual(after + (after - before) + 1_000);
    }
    const [before, exact, after] = await between(() => clock.exact());
    expect(exact).toBeGreaterThanOrEqual(before);
    expect(exact).toBeLessThanOrEqual(after);
  });

  test.each([HOUR, -HOUR, 2_000_000_000_000])(
    "a process clock that is %d ms off changes nothing",
    async (off) => {
      new Times(driver).date = off;
      const clock = new ServerClock(Dispatcher.over(driver), "k");
      const [before, now, after] = await between(() => clock.now());
      expect(now).toBeGreaterThanOrEqual(before - 1_000);
      expect(now).toBeLessThanOrEqual(after + 1_000);
    },
  );

  test("a process clock that is set: nothing was steady since, and a new sample is taken", async () => {
    const times = new Times(driver);
    const clock = new ServerClock(Dispatcher.over(driver), "k");
    await clock.now();
    expect(clock.steadyFor).toBe(Number.POSITIVE_INFINITY);
    times.date += HOUR;
    expect(clock.steadyFor).toBeLessThan(60_000);
    const estimate = clock.read();
    const [before, now, after] = await between(() => clock.now());
    expect(now).toBeGreaterThanOrEqual(before - 1_000);
    expect(now).toBeLessThanOrEqual(after + 1_000);
    // Between the step and the sample an estimate is still better than none.
    expect(Math.abs(now - estimate)).toBeLessThan(60_000);
    times.date -= 3 * HOUR;
    expect(clock.steadyFor).toBeLessThan(60_000);
  });

  test("drift under a second is no step", async () => {
    const times = new Times(driver);
    const clock = new ServerClock(Dispatcher.over(driver), "k");
    await clock.now();
    times.date += 500;
    expect(clock.steadyFor).toBe(Number.POSITIVE_INFINITY);
  });

  test("a reconnect resets steadyFor, and the next now asks the server", async () => {
    const dispatcher = await Dispatcher.open(driver, "main");
    onTestFinished(() => dispatcher.close("now"));
    const clock = new ServerClock(dispatcher, "k");
    await clock.now();
    expect(clock.steadyFor).toBe(Number.POSITIVE_INFINITY);
    await dispatcher.replaceConnection();
    expect(clock.steadyFor).toBeLessThan(60_000);
    const first = clock.steadyFor;
    expect(clock.steadyFor).toBeGreaterThanOrEqual(first);
    expect(await clock.now()).toBeGreaterThan(0);
  });

  test("never goes back within an epoch", async () => {
    const clock = new ServerClock(Dispatcher.over(driver), "k");
    let last = await clock.now();
    for (let n = 0; n < 200; n++) {
      if (n % 5 === 0) await clock.sample();
      const now = clock.read();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
  });

  test.each([HOUR, -HOUR])("a server clock set by %d ms is followed, and told", async (by) => {
    const times = new Times(driver);
    const clock = new ServerClock(Dispatcher.over(times.driver), "k");
    const was = await clock.now();
    times.server += by;
    await clock.sample();
    expect(Math.abs(clock.read() - was - by)).toBeLessThan(60_000);
    expect(clock.steadyFor).toBeLessThan(60_000);
  });

  test("a reply that comes late is no step, and a quick one is preferred to it", async () => {
    const times = new Times(driver);
    const clock = new ServerClock(Dispatcher.over(times.driver), "k");
    await clock.now();
    times.holds = [4_000];
    await clock.exact();
    expect(clock.steadyFor).toBe(Number.POSITIVE_INFINITY);
    const [before, now, after] = await between(() => clock.now());
    expect(now - times.server).toBeGreaterThanOrEqual(before - 1_000);
    expect(now - times.server).toBeLessThanOrEqual(after + 1_000);
  });

  test("a first sample that took long is taken once more", async () => {
    const times = new Times(driver);
    const clock = new ServerClock(Dispatcher.over(times.driver), "k");
    times.holds = [4_000];
    const now = await clock.now();
    const [before] = await between(async () => undefined);
    expect(Math.abs(now - times.server - before)).toBeLessThan(1_500);
  });

  test("half a minute later the next now asks the server again, without waiting", async () => {
    const times = new Times(driver);
    const clock = new ServerClock(Dispatcher.over(times.driver), "k");
    await clock.now();
    times.server += HOUR;
    await clock.now();
    expect(clock.steadyFor).toBe(Number.POSITIVE_INFINITY);
    times.pass(31_000);
    await clock.now();
    await vi.waitFor(() => expect(clock.steadyFor).toBeLessThan(60_000));
  });

  test("without a server there is no time, and the error says why", async () => {
    const dispatcher = await Dispatcher.open(driver, "main", { retryMs: 0 });
    const clock = new ServerClock(dispatcher, "k");
    await dispatcher.close("now");
    await expect(clock.now()).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(clock.read()).toBe(0);
  });
});
