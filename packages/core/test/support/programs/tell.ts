/** Settings the parent gave, and the way to tell it something. */
export const settings = JSON.parse(process.argv[2] ?? "{}") as {
  readonly url: string;
  readonly name: string;
  readonly count: number;
  readonly timeout: number;
  readonly options: Record<string, unknown>;
};

export function tell(text: string): void {
  if (process.connected) process.send?.(text);
}

/** Waits for a word of the parent, then stops listening, which would hold the process. */
export function heard(word: string): Promise<void> {
  return new Promise((resolve) => {
    process.on("message", (text) => {
      if (text !== word) return;
      process.disconnect?.();
      resolve();
    });
  });
}
