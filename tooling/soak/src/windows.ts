/** A time in which something was hurt, by the machine's one true clock, in ms. */
export interface Window {
  readonly what: string;
  readonly from: number;
  /** Undefined while it lasts. */
  to: number | undefined;
  /** The process that was hurt; undefined for all. */
  readonly who: string | undefined;
}

/** What was hurt when. Whatever overlaps such a time may have been run twice. */
export class Windows {
  readonly all: Window[] = [];

  open(what: string, who?: string): Window {
    const window: Window = { what, from: Date.now(), to: undefined, who };
    this.all.push(window);
    return window;
  }
}

/** True when a time of a process was hurt; `after` is how long a fault goes on to be felt, in ms. */
export function hurt(
  windows: readonly Window[],
  who: string,
  { from, to }: { readonly from: number; readonly to: number },
  after: number,
): boolean {
  return windows.some((window) => {
    if (window.who !== undefined && window.who !== who) return false;
    return window.from <= to + SLACK_MS && (window.to ?? Number.POSITIVE_INFINITY) + after >= from;
  });
}

/** Clocks of processes are read at slightly different times, and a settlement follows its run, in ms. */
const SLACK_MS = 1_000;
