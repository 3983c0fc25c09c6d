/** Colours of the terminal; each leaves the text as it is where colours are off. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
}

/** Makes the colours, or none. */
export function paint(on: boolean): Paint {
  const code =
    (start: number, end: number) =>
    (text: string): string =>
      on ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return { bold: code(1, 22), dim: code(2, 22), green: code(32, 39), red: code(31, 39) };
}
