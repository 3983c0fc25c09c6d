import { describe, expect, test } from "vitest";
import { Tale } from "../support/case.js";

const FAR = 100_000;

test("a healthy history has no findings", () => {
  const tale = new Tale()
    .add("a")
    .add("b", { priority: 2 })
    .add("c", { delay: 50, fails: 1, attempts: 2 });
  tale.run(10, "a", "t1").run(20, "b", "t2").happen(50, "w", "c");
  tale.start(60, "c", "t3").end(61, "c", "t3", "failed").happen(62, "r", "c", "planned t3");
  tale.run(70, "c", "t4");
  tale.completed.set("c", 2);
  expect(tale.check()).toEqual([]);
});

describe("lost", () => {
  test("a job that was added and never heard of", () => {
    const tale = new Tale();
    tale.write(
      "producer",
      { e: "add", at: 1, q: "q", plan: { ...PLAIN, k: "a" } },
      { e: "added", at: 2, k: "a", id: "a" },
    );
    expect(tale.check()).toEqual(["LOST a was added and never heard of again"]);
  });

  test.each([
    ["line", (tale: Tale) => tale],
    ["active", (tale: Tale) => tale.start(5, "a", "t")],
    ["delayed", (tale: Tale) => tale.happen(5, "a", "a").happen(6, "d", "a")],
  ])("a job that is still %s", (stand, go) => {
    expect(go(new Tale().add("a")).check()).toEqual([`LOST a is still ${stand}`]);
  });

  test("a job nobody asked to remove", () => {
    const tale = new Tale().add("a").happen(5, "x", "a");
    expect(tale.check()).toEqual(["LOST a was removed, and nobody asked for it"]);
    tale.write("producer", { e: "op", at: 4, op: "remove", id: "a", q: "q" });
    expect(tale.check()).toEqual([]);
  });

  test("a job that is said to be completed and does not stand", () => {
    const tale = new Tale().add("a").run(5, "a", "t");
    tale.completed.clear();
    expect(tale.check()).toEqual(["RETENTION a is completed and does not stand"]);
  });
});

describe("twice", () => {
  const again = (): Tale => {
    const tale = new Tale().add("a").start(10, "a", "t1").end(11, "a", "t1");
    return tale.happen(FAR, "s", "a").run(FAR + 10, "a", "t2");
  };

  test("a job that ran again, and nothing was hurt", () => {
    expect(again().check()).toEqual([
      "TWICE a ran again by worker after a run of worker that done, and nothing was hurt",
    ]);
  });

  test("only the time and the process that were hurt excuse it", () => {
    expect(again().hurt(12, 20, "other").check()).toHaveLength(1);
    expect(again().hurt(50_000, 50_001, "worker").check()).toHaveLength(1);
    expect(again().hurt(12, 20, "worker").check()).toEqual([]);
    expect(again().hurt(12, 20).check()).toEqual([]);
  });
});

test("an end written by a run that had lost its lease", () => {
  const tale = new Tale().add("a").hurt(0, FAR);
  tale.start(10, "a", "old", "w1").happen(3_000, "s", "a").start(3_010, "a", "new", "w2");
  tale.end(3_020, "a", "old", "done", "w1").happen(3_021, "c", "a", '{"token":"old"}');
  tale.completed.set("a", 1);
  expect(tale.check()).toEqual(["LEASE a was ended at 3021 by w1, though w2 had it since 3010"]);
});

test("a job that ended without being claimed, or was claimed when it had ended", () => {
  const tale = new Tale().add("a").happen(5, "c", "a");
  tale.completed.set("a", 1);
  expect(tale.check()).toContain('STATE a: at 5 "c" came while it was line');
  const twice = new Tale().add("b").run(5, "b", "t").happen(9, "a", "b");
  expect(twice.check()).toContain('STATE b: at 9 "a" came while it was completed');
});

test("a running job that was removed", () => {
  const tale = new Tale().add("a").start(5, "a", "t").happen(6, "x", "a", "active");
  expect(tale.check()).toEqual(['STATE a: at 6 "x" came while it was active']);
  const back = new Tale().add("b").happen(5, "a", "b").happen(6, "x", "b", "waiting");
  back.write("producer", { e: "op", at: 6, op: "remove", id: "b", q: "q" });
  expect(back.check()).toEqual([]);
});

test("a job in a state its events do not tell of", () => {
  const tale = new Tale().add("a").run(5, "a", "t");
  tale.failed.set("a", 1);
  expect(tale.check()).toEqual(["COUNT a stands in failed, by its events it is completed"]);
});

test("attempts that were charged twice", () => {
  const tale = new Tale().add("a").run(5, "a", "t");
  tale.completed.set("a", 2);
  expect(tale.check()).toEqual(["ATTEMPTS a counts 2, and made 1"]);
});

test("a job that failed though its plan was to succeed", () => {
  const tale = new Tale().add("a").start(5, "a", "t").happen(6, "f", "a", "no reason");
  tale.failed.set("a", 1);
  expect(tale.check()).toEqual(["PLAN a failed: no reason"]);
});

test("a letter that is missing, and one that nobody owed", () => {
  const tale = new Tale().add("a", { letter: true, fails: 1 }).add("b");
  tale.start(5, "a", "t").end(6, "a", "t", "failed").happen(7, "f", "a", "planned t");
  tale.failed.set("a", 1);
  tale.run(8, "b", "u").letters.add("q:b");
  expect(tale.check()).toEqual(["LETTER a left no letter", "LETTER b left a letter"]);
});

test("two jobs of one deduplication id at a time", () => {
  const tale = new Tale().add("a", { dedup: "s1" }).add("b", { dedup: "s1" });
  tale.run(5, "a", "t").run(9, "b", "u");
  expect(tale.check()).toEqual(["DEDUPLICATION b was added for s1 while a stood for it"]);
  const after = new Tale().add("a", { dedup: "s1" }).run(5, "a", "t");
  expect(after.add("b", { dedup: "s1" }, 8).run(9, "b", "u").check()).toEqual([]);
});

describe("order", () => {
  test("a job that was claimed before one ahead of it", () => {
    const tale = new Tale().add("a").add("b").run(5, "b", "t").run(9, "a", "u");
    expect(tale.check()).toEqual(["ORDER b was claimed before a, which joined line 0 ahead of it"]);
  });

  test("each priority is a line of its own; whoever may have been moved counts for nothing", () => {
    const tale = new Tale().add("a", { priority: 3 }).add("b").add("c", { lifo: true }).add("d");
    tale.write("producer", { e: "op", at: 2, op: "priority", id: "b", q: "q" });
    tale.run(5, "c", "t1").run(9, "d", "t2").run(13, "b", "t3").run(17, "a", "t4");
    expect(tale.check()).toEqual([]);
  });
});

const PLAIN = {
  fails: 0,
  attempts: 1,
  first: "run",
  workMs: 0,
  priority: 0,
  lifo: false,
  delay: 0,
  kept: true,
  letter: false,
} as const;
