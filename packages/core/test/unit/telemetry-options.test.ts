import { describe, expect, test } from "vitest";
import { createOtelTelemetry } from "../../src/otel/index.js";
import { checkQueueOptions } from "../../src/queue/options.js";
import { checkWorkerOptions } from "../../src/worker/options.js";
import { MemoryTelemetry } from "../support/telemetry.js";
import { refusal } from "../support/until.js";

const connection = "redis://127.0.0.1:1";

describe.each([
  ["queue", checkQueueOptions],
  ["worker", checkWorkerOptions],
])("telemetry of a %s", (_of, check) => {
  test.each([
    ["null", null],
    ["a number", 1],
    ["text", "otel"],
    ["true", true],
    ["nothing in it", {}],
    ["a method too few", { startSpan: () => undefined, count: () => undefined }],
    ["no function", { startSpan: 1, count: 2, record: 3 }],
  ])("refuses %s", async (_what, telemetry) => {
    const error = await refusal(() => check({ connection, telemetry }));
    expect(error).toMatchObject({ code: "VALIDATION", option: "telemetry" });
  });

  test("refuses getters that throw", async () => {
    const telemetry = {
      startSpan: () => undefined,
      record: () => undefined,
      get count(): never {
        throw new Error("no");
      },
    };
    const error = await refusal(() => check({ connection, telemetry }));
    expect(error.message).toBe("telemetry: cannot be read: no");
  });

  test("takes an object or a class of one's own, and nothing", () => {
    const telemetry = new MemoryTelemetry();
    expect(check({ connection, telemetry }).telemetry).toBe(telemetry);
    expect(check({ connection }).telemetry).toBeUndefined();
  });

  test("has a did-you-mean", async () => {
    const error = await refusal(() => check({ connection, telemtry: {} }));
    expect(error.message).toContain("did you mean telemetry?");
  });
});

describe("createOtelTelemetry", () => {
  test.each([
    ["tracer", null],
    ["tracer", true],
    ["tracer", {}],
    ["tracer", "global"],
    ["meter", null],
    ["meter", { createCounter: 1 }],
    ["continueTraces", "yes"],
  ])("refuses %s: %j", async (option, value) => {
    const error = await refusal(() => createOtelTelemetry({ [option]: value } as never));
    expect(error).toMatchObject({ code: "VALIDATION", option });
  });

  test("refuses an unknown option, with the nearest", async () => {
    const error = await refusal(() => createOtelTelemetry({ trace: false } as never));
    expect(error.message).toContain("did you mean tracer?");
  });

  test("with neither spans nor metrics takes everything in all the same", () => {
    const telemetry = createOtelTelemetry({ tracer: false, meter: false });
    const attributes = {};
    expect(telemetry.startSpan({ name: "x", kind: "producer", attributes })).toBeUndefined();
    telemetry.count("echomq.jobs.added", 1, attributes);
    telemetry.record("echomq.job.wait", 1, attributes);
  });
});
