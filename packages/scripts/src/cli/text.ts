import { printable } from "@echomq/wire";

/** Rows in columns, each as wide as its widest cell; numbers stand to the right. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => visible(String(cell))));
  const widths = (cells[0] ?? []).map((_, at) =>
    Math.max(...cells.map((row) => row[at]?.length ?? 0)),
  );
  const numeric = widths.map((_, at) => rows.slice(1).every((row) => typeof row[at] === "number"));
  const line = (row: readonly string[]): string => {
    const padded = row.map((cell, at) => {
      const width = widths[at] ?? 0;
      return numeric[at] ? cell.padStart(width) : cell.padEnd(width);
    });
    return `  ${padded.join("  ")}`.trimEnd();
  };
  return cells.map(line).join("\n");
}

/** Text from elsewhere, with what a terminal would act upon or not show as escapes. */
export function visible(text: string): string {
  return text.replaceAll(new RegExp(HIDDEN, "gu"), (char) => printable(char, 16));
}

/** Quotes a text so that a shell takes it as one word; what cannot be shown is escaped. */
export function shellWord(text: string): string {
  if (/^[\w.@%+=/:-]+$/.test(text)) return text;
  if (!HIDDEN.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = Array.from(text, (char) =>
    HIDDEN.test(char) || char === "'" || char === "\\" ? bytesOf(char) : char,
  );
  return `$'${escaped.join("")}'`;
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Three octal digits end by themselves, whatever follows. */
function bytesOf(char: string): string {
  return Array.from(
    new TextEncoder().encode(char),
    (byte) => `\\${byte.toString(8).padStart(3, "0")}`,
  ).join("");
}
