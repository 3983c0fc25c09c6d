/** How a scenario or the whole run ends when it does not simply pass. */

/** A promise of the wire that was seen broken; the message says what was seen. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** The server refuses a right the scenario needs; the message names the right. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** The program was called in a way it cannot work. */
export class Misused extends Error {
  override readonly name = "Misused";
}

/** The server cannot be reached, or went away. */
export class ConnectionTrouble extends Error {
  override readonly name = "ConnectionTrouble";
}

/** The run was ended from outside; everything it made is cleared away. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** One row of the report; `ok` is null where the server refused the right to look. */
export interface Row {
  readonly id: string;
  readonly title: string;
  readonly ok: boolean | null;
  readonly detail: string;
}

/** Breaks the scenario unless the condition holds. */
export function hold(condition: boolean, otherwise: string): void {
  if (!condition) throw new Broken(otherwise);
}
