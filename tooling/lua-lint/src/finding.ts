/** A law of the wire, or `manifest` where the script and its registry entry disagree. */
export type Rule = "W1" | "W3" | "W4" | "W5" | "W6" | "W7" | "W10" | "W12" | "manifest";

/** One break of one law, at a line of the bundled script. */
export interface Finding {
  readonly rule: Rule;
  readonly line: number;
  readonly message: string;
}

/** What the registry says of a script. */
export interface LintOptions {
  readonly name: string;
  readonly writes: boolean;
  /** The fence it begins with; `step` where it is left out. */
  readonly fence?: "step" | "init" | "reserve" | "migration";
}

/** Where a rule leaves what it found. */
export type Report = (rule: Rule, line: number, message: string) => void;
