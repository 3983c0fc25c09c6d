import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { userRules } from "../../src/acl/line.js";
import { rightsOf } from "../../src/acl/rights.js";
import { EXTRA_SPECS, ROLE_SPECS, ROLES } from "../../src/acl/roles.js";

const on = { cluster: false, database: false } as const;

test.each(ROLES)("%s: what the line holds on each server", (role) => {
  const rights = rightsOf({ role, q: "orders", prefixes: ["bull"] });
  for (const server of ["6.2", "7.0", "7.2"] as const) {
    const rules = userRules(rights, { ...on, server });
    expect(rules.slice(0, 4)).toEqual(["on", ">PASSWORD", "resetkeys", "resetchannels"]);
    expect(rules.filter((rule) => /^\+@|^allkeys$|^&|^~\*$/.test(rule))).toEqual([]);
    expect(new Set(rules).size).toBe(rules.length);
    expect(rules.indexOf("-@dangerous")).toBeLessThan(
      rules.findIndex((one) => one.startsWith("+")),
    );
    const newer = rules.filter((rule) => /^[%(]|^clearselectors$/.test(rule));
    expect(newer.length > 0).toBe(server !== "6.2");
    expect(rules.includes("+client|setinfo")).toBe(server === "7.2");
  }
});

test("rights on keys follow what the scripts do there", () => {
  const keysOf = (role: (typeof ROLES)[number]) =>
    rightsOf({ role, q: "o", prefixes: ["bull"] }).keys;
  const [producer, worker, admin] = [keysOf("producer"), keysOf("worker"), keysOf("admin")];
  expect(producer.get("emq:{o}:v2:active")).toBe("r");
  expect(producer.get("emq:{o}:v2:wait")).toBe("w");
  expect(producer.get("{emq}:nodes")).toBe("rw");
  expect(producer.has("emq:{o}:v2:verdicts")).toBe(false);
  expect(worker.get("emq:{o}:v2:wait")).toBe("rw");
  expect(worker.get("{emq}:version")).toBe("r");
  expect(worker.has("{emq}:nodes")).toBe(false);
  expect(admin.get("emq:{o}:v2:job:*")).toBe("r");
  for (const keys of [producer, worker, admin]) {
    expect(keys.get("emq:{o}:v2:events")).toBe("w");
    expect(keys.get("bull:{o}:stalled\\-check")).toBe("r");
    expect(keys.get("{emq}:migration:o")).toBe("r");
  }
});

test("a migrator has its queue on both wires, and looks for it at other prefixes", () => {
  const named = rightsOf({ role: "migrator", q: "o", prefixes: ["bull"], v1Queue: "o:ld" });
  const whole = [...named.keys].filter(([, mode]) => mode === "rw").map(([pattern]) => pattern);
  expect(whole).toEqual(["bull:o:ld:*", "emq:{o}:*", "{emq}:migration:o"]);
  const looks = [...named.keys].filter(([, mode]) => mode !== "rw");
  for (const [pattern, mode] of looks) {
    expect(mode).toBe("r");
    expect(pattern).toMatch(/^(bull|\{bull\}|emq):\{?o:ld\}?:[a-z\\-]+$/);
  }
  expect(named.declared).toEqual(["bull:o:ld:*", "emq:{o}:*", "{emq}:migration:o"]);
  const both = rightsOf({ role: "migrator", q: "o", prefixes: ["bull"] });
  expect([...both.keys.keys()]).toContain("bull:{o}:*");
});

test.each(["scripts", "migrate"] as const)("every script of %s belongs to a role", (from) => {
  const roles = Object.values(ROLE_SPECS).filter((role) => role.package === from);
  const extras = from === "scripts" ? Object.values(EXTRA_SPECS) : [];
  const given = [...roles, ...extras].flatMap(({ scripts }) => scripts);
  const file = new URL(`../../../../packages/${from}/manifest.json`, import.meta.url);
  const { scripts } = JSON.parse(readFileSync(file, "utf8")) as { scripts: { name: string }[] };
  expect([...new Set(given)].sort()).toEqual(scripts.map(({ name }) => name).sort());
});

test("what is given besides adds its scripts and keys", () => {
  const plain = rightsOf({ role: "producer", q: "o", prefixes: ["bull"] });
  const more = rightsOf({ role: "producer", extras: ["events"], q: "o", prefixes: ["bull"] });
  expect(plain.keys.get("emq:{o}:v2:events")).toBe("w");
  expect(more.keys.get("emq:{o}:v2:events")).toBe("rw");
  expect(more.commands.filter((name) => !plain.commands.includes(name))).toContain("xread");
  const admin = { role: "admin", q: "o", prefixes: ["bull"] } as const;
  const jobs = rightsOf({ ...admin, extras: ["jobs"] });
  expect(rightsOf(admin).keys.get("emq:{o}:v2:wait")).toBe("r");
  expect(jobs.keys.get("emq:{o}:v2:wait")).toBe("rw");
  const doctor = rightsOf({ role: "admin", extras: ["doctor"], q: "o", prefixes: ["bull"] });
  expect(doctor.keys.get("emq:{o}:*")).toBe("r");
  expect(doctor.keys.has("emq:{o}:v2:owners")).toBe(doctor.keys.get("emq:{o}:v2:owners") === "rw");
});

test("letters give a worker what adding takes on the other queue, its fence included", () => {
  const given = { role: "worker", extras: ["letters"], q: "o", prefixes: ["bull"] } as const;
  const { keys } = rightsOf({ ...given, others: ["dead"] });
  expect(keys.get("emq:{dead}:v2:wait")).toBe("w");
  expect(keys.get("emq:{dead}:v2:active")).toBe("r");
  expect(keys.has("emq:{dead}:v2:owners")).toBe(false);
  expect(keys.get("bull:dead:meta")).toBe("r");
  expect(keys.get("{emq}:migration:dead")).toBe("r");
  expect(keys.get("emq:{o}:v2:outbox")).toBe("rw");
});
