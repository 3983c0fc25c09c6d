import { describe, expect, test } from "vitest";
import {
  ConfigError,
  ECHOMQ_ERROR,
  EchoMQError,
  FenceError,
  isEchoMQError,
  ServerError,
  ValidationError,
  WireError,
} from "../../src/index.js";

const fence = {
  code: "V1_KEYSPACE",
  queue: "orders",
  found: "bullmq:5.65.1",
  expected: "echomq:2.x, or nothing",
  probe: "bull:orders:meta",
  message: "why",
} as const;

const each: ReadonlyArray<readonly [string, EchoMQError, object]> = [
  [
    "EchoMQError",
    new EchoMQError({ code: "CUSTOM", message: "m" }),
    { code: "CUSTOM", message: "m" },
  ],
  [
    "ValidationError",
    new ValidationError({ option: "delay", reason: "must be whole ms" }),
    {
      code: "VALIDATION",
      option: "delay",
      reason: "must be whole ms",
      message: "delay: must be whole ms",
    },
  ],
  [
    "ConfigError",
    new ConfigError({ message: "m", option: "connection" }),
    { code: "CONFIG", option: "connection" },
  ],
  ["FenceError", new FenceError(fence), fence],
  [
    "WireError",
    new WireError({ code: "EMQSTALE", detail: "7" }),
    { code: "EMQSTALE", message: "EMQSTALE 7" },
  ],
  [
    "ServerError",
    new ServerError({ code: "OOM", detail: "OOM x" }),
    { code: "OOM", message: "OOM x" },
  ],
];

describe.each(each)("%s", (name, error, fields) => {
  test("carries its fields, its name and its brand", () => {
    expect(error).toMatchObject({ name, transient: false, ...fields });
    expect(error).toBeInstanceOf(EchoMQError);
    expect(error).toBeInstanceOf(Error);
    expect(error[ECHOMQ_ERROR]).toBe(true);
    expect(error.stack).toContain(`${name}: `);
  });

  test("has no empty fields", () => {
    expect(Object.values(error)).not.toContain(undefined);
    expect("op" in error).toBe(false);
    expect("cause" in error).toBe(false);
  });
});

test("op and cause are kept by every class", () => {
  const cause = new Error("below");
  const context = { op: "Queue.add", cause };
  const errors = [
    new EchoMQError({ code: "X", message: "m", ...context }),
    new ValidationError({ option: "o", reason: "r", ...context }),
    new ConfigError({ message: "m", ...context }),
    new FenceError({ ...fence, ...context }),
    new WireError({ code: "EMQARG", detail: "d", ...context }),
    new ServerError({ code: "TIMEOUT", detail: "d", ...context }),
  ];
  for (const error of errors) {
    expect(error.op).toBe("Queue.add");
    expect(error.cause).toBe(cause);
  }
});

describe("the message", () => {
  test("begins with the operation, the job and the queue, where they are known", () => {
    const said = (about: object) => new EchoMQError({ code: "X", message: "m", ...about }).message;
    expect(said({ op: "Queue.add" })).toBe("m");
    expect(said({ queue: "mails" })).toBe('queue "mails": m');
    expect(said({ op: "Queue.add", queue: "mails" })).toBe('Queue.add: queue "mails": m');
    expect(said({ op: "Job.retry", queue: "mails", jobId: "7" })).toBe(
      'Job.retry: job "7" of queue "mails": m',
    );
  });

  test("shows an id in few printable characters; the field has all of it", () => {
    const id = `${"x".repeat(500)}\n`;
    const error = new WireError({ code: "EMQSTATE", detail: "d", queue: "q", jobId: id });
    expect(error.message).toBe(`job "${"x".repeat(63)}…" of queue "q": EMQSTATE d`);
    expect(error).toMatchObject({ jobId: id, queue: "q", detail: "d" });
  });

  test("of every class says the place once, and keeps the server's text apart", () => {
    const about = { op: "o", queue: "mails" };
    const place = 'o: queue "mails": ';
    const wire = new WireError({ code: "EMQSTATE", detail: "the job is active", ...about });
    expect(wire.message).toBe(
      `${place}EMQSTATE the job is active; cancel it, or wait until it has ended`,
    );
    expect(wire.detail).toBe("the job is active");
    const server = new ServerError({ code: "OOM", detail: "OOM no", ...about });
    expect(server).toMatchObject({ message: `${place}OOM no`, detail: "OOM no" });
    const option = new ValidationError({ option: "delay", reason: "is required", ...about });
    expect(option.message).toBe(`${place}delay: is required`);
    expect(new ConfigError({ message: "m", ...about }).message).toBe(`${place}m`);
    expect(new FenceError({ ...fence, op: "o" })).toMatchObject({
      message: "why",
      queue: "orders",
    });
  });
});

test("a ConfigError needs no option", () => {
  expect("option" in new ConfigError({ message: "m" })).toBe(false);
});

test.each([
  ["CONNECTION_LOST", true],
  ["TIMEOUT", true],
  ["LOADING", true],
  ["READONLY", true],
  ["CLUSTERDOWN", true],
  ["TRYAGAIN", true],
  ["MASTERDOWN", true],
  ["NOAUTH", false],
  ["NOPERM", false],
  ["OOM", false],
  ["UNKNOWN", false],
] as const)("%s is transient: %s", (code, transient) => {
  expect(new ServerError({ code, detail: "d" }).transient).toBe(transient);
});

describe("isEchoMQError", () => {
  const error = new WireError({ code: "EMQSTALE", detail: "d" });

  test("tells by brand and code", () => {
    expect(isEchoMQError(error)).toBe(true);
    expect(isEchoMQError(error, "EMQSTALE")).toBe(true);
    expect(isEchoMQError(error, "EMQFULL")).toBe(false);
  });

  test("knows an error of another copy of the package", () => {
    const copy = Object.assign(new Error("m"), {
      [Symbol.for("echomq.error")]: true,
      code: "EMQSTALE",
    });
    expect(copy).not.toBeInstanceOf(EchoMQError);
    expect(isEchoMQError(copy, "EMQSTALE")).toBe(true);
  });

  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error("trap");
      },
    },
  );
  test.each([null, undefined, 0, "EMQSTALE", {}, new Error("m"), { code: "EMQSTALE" }, hostile])(
    "refuses other values, and never throws (%#)",
    (value) => {
      expect(isEchoMQError(value)).toBe(false);
    },
  );
});
