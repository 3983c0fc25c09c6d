/** Imported before all else: this process's clock is wrong by what the parent says, in ms. */
const Real = Date;
let shift = Number((JSON.parse(process.argv[2] ?? "{}") as { shift?: number }).shift ?? 0);

class Skewed extends Real {
  constructor(...args: readonly [] | readonly [number | string | Date]) {
    if (args.length === 0) super(Real.now() + shift);
    else super(...args);
  }

  static override now(): number {
    return Real.now() + shift;
  }
}

globalThis.Date = Skewed as DateConstructor;

/** Sets the clock by so many ms, as an operator or a time daemon does. */
export function stepClock(ms: number): void {
  shift += ms;
}
