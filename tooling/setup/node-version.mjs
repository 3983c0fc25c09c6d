/** The oldest Node the project runs on, checked before anything newer is loaded. */

const OLDEST = [20, 19];

/** One sentence about a Node that is too old, or `undefined`. */
export function nodeProblem(version) {
  const [major, minor] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `Node ${OLDEST.join(".")} or newer is needed, and this is Node ${version}.`;
}
