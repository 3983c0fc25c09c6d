export { type Access, accessOf, type KeyAccess } from "./access.js";
export type { Finding, LintOptions, Rule } from "./finding.js";
export { lintScript } from "./lint.js";
