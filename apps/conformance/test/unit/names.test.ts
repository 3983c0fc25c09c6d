import { expect, test } from "vitest";
import { Names } from "../../src/keys/names.js";

test("keys of the run's queues are its own, on the wire and at v1 prefixes", () => {
  const names = new Names("mine");
  for (const key of [
    "emq:{mine}:meta",
    "emq:{mine-v1}:v2:wait",
    "bull:mine:meta",
    "{bull}:{mine-step}:id",
  ]) {
    expect(names.owns(key), key).toBe(true);
  }
});

test("keys of others are not, however alike", () => {
  const names = new Names("mine");
  for (const key of [
    "emq:{mine2}:meta",
    "emq:{mine-x}:meta",
    "bull:mines:meta",
    "{emq}:version",
    "mine",
    "x:mine:y",
  ]) {
    expect(names.owns(key), key).toBe(false);
  }
});

test("a name with glob characters matches itself only", () => {
  expect(new Names("a*b[c]").pattern).toBe("emq:{a\\*b\\[c\\]*");
});

test("each run has a name of its own", () => {
  expect(new Names(undefined).of("main")).not.toBe(new Names(undefined).of("main"));
});
