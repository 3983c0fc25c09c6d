/** Entry of `npm run demo|check|conformance|bench|soak` and `npm test`: sets up what is missing, then runs. */
import { nodeProblem } from "./node-version.mjs";

const problem = nodeProblem(process.versions.node);
if (problem) {
  process.stderr.write(`${problem}\n`);
  if (process.argv[2] === "test") process.stdout.write("0 passed, 1 failed\n");
  process.exitCode = 1;
} else {
  import("./targets.mjs").then((module) => module.main(process.argv.slice(2)));
}
