/** A number with its noun, e.g. `1 job`, `2 jobs`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The verb that goes with a number. */
export function are(count: number): "is" | "are" {
  return count === 1 ? "is" : "are";
}
