const MOST = 4;

/** Names the first few of a list. */
export function list(items: readonly string[]): string {
  const shown = items.slice(0, MOST).map((item) => JSON.stringify(item).slice(1, -1).slice(0, 120));
  const rest = items.length - shown.length;
  return rest > 0 ? `${shown.join(", ")} and ${rest} more` : shown.join(", ");
}
