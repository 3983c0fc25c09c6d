export type { Finding, LintOptions, Rule } from "./finding.js";
export { lintScript } from "./lint.js";
