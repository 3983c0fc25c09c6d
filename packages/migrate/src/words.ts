/** A number with its noun, e.g. `1 job`, `2 jobs`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The verb that goes with a number. */
export function are(count: number): "is" | "are" {
  return count === 1 ? "is" : "are";
}

/** A size for people, e.g. `15 KB`. */
export function bytes(size: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  let left = size;
  for (; left >= 1_000 && at < units.length - 1; at += 1) left /= 1_000;
  return `${left >= 10 || at === 0 ? Math.round(left) : left.toFixed(1)} ${units[at]}`;
}

/** A time span for people, e.g. `4 ms` or `2.5 s`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const [size, unit] = ms < 60_000 ? [ms / 1_000, "s"] : [ms / 60_000, "min"];
  return `${Number(size.toFixed(size < 10 ? 1 : 0))} ${unit}`;
}
