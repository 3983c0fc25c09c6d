/** The unit and property tests alone, for `npm run check`. */
import { runVitest } from "./vitest.mjs";

const { passed, failed, notes } = await runVitest(process.cwd(), ["--project", "unit"]);
for (const note of notes) process.stdout.write(`${note}\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
