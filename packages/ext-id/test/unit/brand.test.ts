import { expect, test } from "vitest";
import { brand, IdError, unbrand } from "../../src/index.js";

test("brands the known id", () => {
  expect(brand("274557032793636864")).toBe("BAT0KHTOWnGLuC");
  expect(brand("274557032793636864", "TSK")).toBe("TSK0KHTOWnGLuC");
});

test("takes the brand off", () => {
  expect(unbrand("BAT0KHTOWnGLuC")).toEqual({ id: "274557032793636864", namespace: "BAT" });
  expect(unbrand("TSK0KHTOWnGLuC")).toEqual({ id: "274557032793636864", namespace: "TSK" });
});

test.each(["", "BA", "BATS", "bat", "B1T", "BÄT", "BA\n", null, 3])(
  "refuses namespace %j",
  (namespace) => {
    expect(() => brand("1", namespace as string)).toThrow(/namespace: must be three letters A-Z/);
  },
);

test.each([
  "",
  "BAT",
  "0KHTOWnGLuC",
  "bat0KHTOWnGLuC",
  "BAT0KHTOWnGLuC ",
  "BATzzzzzzzzzzz",
  null,
  7n,
])("refuses to unbrand %s", (text) => {
  expect(() => unbrand(text as string)).toThrow(IdError);
});

test("refuses to brand what is no id", () => {
  expect(() => brand("x")).toThrow(IdError);
});
