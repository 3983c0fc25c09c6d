import type { Scenario } from "../context.js";
import { clientScenarios } from "./client.js";
import { declaredScenarios } from "./declared.js";
import { fenceScenarios } from "./fence.js";
import { keyspaceScenarios } from "./keyspace.js";
import { roundtripScenarios } from "./roundtrip.js";
import { scriptScenarios } from "./script.js";

/** All scenarios in the order they run: what acts comes before what judges. */
export const SCENARIOS: readonly Scenario[] = [
  ...roundtripScenarios,
  ...scriptScenarios,
  ...clientScenarios,
  ...fenceScenarios,
  ...keyspaceScenarios,
  ...declaredScenarios,
];
