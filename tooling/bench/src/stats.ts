/** Middle and quartiles of the paired ratios, and the middle of each side. */
export interface Summary {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly ours: number;
  readonly peer: number;
}

/** Value below which a share of the sorted values lies, interpolated; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Sums up rounds. Ratios are taken within a round, so a slow spell of the machine hits both sides. */
export function summarize(
  rounds: readonly { readonly ours: number; readonly peer: number }[],
  better: "more" | "less",
): Summary {
  const ratios = rounds.map(({ ours, peer }) => (better === "more" ? ours / peer : peer / ours));
  return {
    ratio: median(ratios),
    low: quantile(ratios, 0.25),
    high: quantile(ratios, 0.75),
    ours: median(rounds.map(({ ours }) => ours)),
    peer: median(rounds.map(({ peer }) => peer)),
  };
}
