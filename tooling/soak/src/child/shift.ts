/**
 * A machine whose clock is wrong. Imported first, so that everything sees it. The monotonic clock starts
 * elsewhere and then keeps its pace: what makes it jump is a process that stands still, and those are
 * stopped for real. The server's own clock cannot be moved.
 */
const RealDate = Date;
const realNow = Date.now.bind(Date);
const realPerformance = performance.now.bind(performance);
let shiftMs = Number(process.env.ECHOMQ_SOAK_SHIFT ?? 0);
const origin = Math.abs(shiftMs) * 7 + 12_345.678;

class ShiftedDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(realNow() + shiftMs);
    else super(...(args as [number]));
  }

  static override now(): number {
    return realNow() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
performance.now = () => realPerformance() + origin;

/** Sets the clock, from now on, by so many ms. */
export function stepClock(ms: number): void {
  shiftMs += ms;
}

/** Ms by the machine's own clock, which the other processes share. */
export function trueNow(): number {
  return realNow();
}
