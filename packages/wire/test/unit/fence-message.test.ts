import { describe, expect, test } from "vitest";
import type { FenceDecision, FenceProbes } from "../../src/index.js";
import { decideFence, decideV1Guard, FenceError, fenceError, tombstone } from "../../src/index.js";

const NOTHING: FenceProbes = {
  queue: "orders",
  reserveVersion: null,
  stamp: { kind: "none" },
  v2Meta: "none",
  opened: null,
  migration: null,
  v1: [],
};

function bull(meta: FenceProbes["v1"][number]["meta"], queue = "orders"): FenceProbes["v1"] {
  return [{ prefix: "bull", braced: false, metaKey: `bull:${queue}:meta`, meta, bare: [] }];
}

function errorOf(decision: FenceDecision, queue = "orders"): FenceError {
  if (decision.action === "go") throw new Error("went on");
  return fenceError(decision, queue);
}

const v2 = (probes: Partial<FenceProbes>, queue = "orders") =>
  errorOf(decideFence({ ...NOTHING, queue, ...probes }), queue);
const v1 = (probes: Partial<FenceProbes>, queue = "orders") =>
  errorOf(decideV1Guard({ ...NOTHING, queue, ...probes }), queue);

describe("every code says what was found, where, what it means and what to do", () => {
  test("V1_KEYSPACE", () => {
    const error = v2({ v1: bull({ kind: "hash", version: "bullmq:5.65.1" }) });
    expect(error.message).toMatchInlineSnapshot(
      `"Queue "orders" lives on the v1 wire: found bullmq:5.65.1 at key bull:orders:meta. A v2 client never works on v1 jobs or beside them; nothing was written. Move the queue, or use another name. See what a move would do: npx -p @echomq/migrate -p ioredis echomq-migrate plan --queue orders"`,
    );
  });

  test("V2_KEYSPACE", () => {
    const error = v1({ stamp: { kind: "string", text: "echomq:2.0.0" }, v2Meta: "hash" });
    expect(error.message).toMatchInlineSnapshot(
      `"Queue "orders" lives on the EchoMQ 2 wire: found echomq:2.0.0 at key emq:{orders}:meta. Jobs of a v1 client would wait here where no v2 worker looks, so it must not start. Use @echomq/core for this queue, or another queue name. See its state: npx -p @echomq/migrate -p ioredis echomq-migrate status --queue orders"`,
    );
  });

  test("V1_INTRUSION", () => {
    const error = v2({ v2Meta: "hash" });
    expect(error.message).toMatchInlineSnapshot(
      `"Queue "orders" is a v2 queue without its stamp: found no stamp at key emq:{orders}:meta, while emq:{orders}:v2:meta exists. A v1 client or a manual command removed the stamp or wrote over it; nothing was written. Stop what wrote there, then restore the stamp and list what else was written: npx -p @echomq/migrate -p ioredis echomq-migrate repair --queue orders"`,
    );
  });

  test("MAJOR_MISMATCH", () => {
    const error = v2({ stamp: { kind: "string", text: "echomq:3.1.0" } });
    expect(error.message).toMatchInlineSnapshot(
      `"Queue "orders" belongs to another major of the wire: found echomq:3.1.0 at key emq:{orders}:meta, this client needs echomq:2.x, or nothing. Majors never share keys; nothing was written. Use the client that wrote it: npm install @echomq/core@3"`,
    );
  });

  test("MAJOR_MISMATCH of the server", () => {
    const error = v2({ reserveVersion: "echomq:3.1.0" });
    expect(error.message).toMatch(
      /^The server of queue "orders" belongs .* at key \{emq\}:version/,
    );
  });

  test("FOREIGN_VERSION", () => {
    const error = v2({ stamp: { kind: "string", text: "hello\nworld" } });
    expect(error.message).toMatchInlineSnapshot(
      `"Queue "orders" is not recognised: found hello\\nworld at key emq:{orders}:meta, which neither EchoMQ nor BullMQ writes there. Another program owns that key, or it was damaged; nothing was written. Use another queue name, or look at the key first: redis-cli TYPE 'emq:{orders}:meta'"`,
    );
  });

  test("MIGRATION_IN_PROGRESS", () => {
    const error = v2({ stamp: { kind: "string", text: "echomq:migrating:r1:copy" } });
    expect(error.message).toMatchInlineSnapshot(
      `"Queue "orders" is being moved to the EchoMQ 2 wire: found echomq:migrating:r1:copy at key emq:{orders}:meta. Neither v1 nor v2 clients may work on it until the move ends; nothing was written. Start again when it has ended. If nobody runs it, see how far it came and how to finish it or give the queue back to v1: npx -p @echomq/migrate -p ioredis echomq-migrate status --queue orders"`,
    );
  });

  test("MIGRATION_TOMBSTONE", () => {
    const text = tombstone({ run: "r1", state: "done", q: "new orders" });
    expect(v1({ v1: bull({ kind: "string", text }) }).message).toMatchInlineSnapshot(
      `"Queue "orders" has moved to the EchoMQ 2 wire, as "new orders": found echomq:moved:r1:done:{new orders} at key bull:orders:meta. The old keys are closed for every client. Use @echomq/core with the new queue. See its state: npx -p @echomq/migrate -p ioredis echomq-migrate status --queue 'new orders'"`,
    );
  });
});

test("a FenceError carries what decided", () => {
  const error = v2({ v1: bull({ kind: "hash", version: null }) }, "{orders}");
  expect(error).toBeInstanceOf(FenceError);
  expect(error).toMatchObject({
    name: "FenceError",
    code: "V1_KEYSPACE",
    queue: "orders",
    found: "a hash without a version",
    expected: "echomq:2.x, or nothing",
    probe: "bull:orders:meta",
    transient: false,
  });
});

test("a name that needs it is quoted for the shell", () => {
  const found = bull({ kind: "hash", version: null });
  expect(v2({ v1: found }, "my queue").message).toMatch(/ --queue 'my queue'$/);
  expect(v2({ v1: found }, "it's; rm -rf").message).toMatch(/ --queue 'it'\\''s; rm -rf'$/);
  expect(v2({ v1: found }, 'say "hi"').message).toMatch(/ --queue 'say "hi"'$/);
  expect(v2({ v1: found }, "a.b-c_d/e@f").message).toMatch(/ --queue a\.b-c_d\/e@f$/);
});

test("the tool is told the prefix and the spelling that v1 uses", () => {
  const at = (metaKey: string, queue = "orders") =>
    v2(
      {
        v1: [
          { prefix: "", braced: false, metaKey, meta: { kind: "hash", version: null }, bare: [] },
        ],
      },
      queue,
    ).message;
  expect(at("bull:{orders}:meta")).toMatch(/ plan --queue '\{orders\}'$/);
  expect(at("acme:orders:meta")).toMatch(/ plan --queue orders --prefix acme$/);
  expect(at("a:b:{orders}:meta")).toMatch(/ plan --queue '\{orders\}' --prefix a:b$/);
  expect(at("{bull}:bull:meta", "bull")).toMatch(/ plan --queue bull --prefix '\{bull\}'$/);
  const hash = { stamp: { kind: "hash", version: "bullmq:5.65.1" } } as const;
  expect(v2(hash).message).toMatch(/ plan --queue '\{orders\}' --prefix emq$/);
  expect(v2({ ...hash, v2Meta: "hash" }).message).toMatch(
    / repair --queue '\{orders\}' --prefix emq$/,
  );
  const moving = { kind: "string", text: tombstone({ run: "r1", state: "moving", q: "orders" }) };
  const v1At = { prefix: "acme", braced: false, metaKey: "acme:orders:meta", bare: [] };
  expect(v2({ v1: [{ ...v1At, meta: moving as never }] }).message).toMatch(
    / status --queue orders --prefix acme$/,
  );
});

test("a message stays one short line whatever stands in the keyspace", () => {
  const hostile = `\u202e\n${"x".repeat(1_000_000)}`;
  const messages = [
    v2({ stamp: { kind: "string", text: hostile } }),
    v2({ v1: bull({ kind: "string", text: hostile }, hostile) }),
    v1({ v1: bull({ kind: "string", text: hostile }, hostile) }, hostile),
  ].map((error) => error.message);
  for (const message of messages) {
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(message.length).toBeLessThan(1_200);
  }
});
