/** What a parent may ask for by name. */
type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Answers the parent's calls, each a line of JSON, by the methods given. */
export function serve(methods: Methods): void {
  process.on("message", async (text) => {
    const { id, method, args } = JSON.parse(String(text)) as {
      id: number;
      method: string;
      args: never[];
    };
    const answer = { id, ...(await outcome(methods, method, args)) };
    process.send?.(`answer ${JSON.stringify(answer)}`);
  });
  process.send?.("serving");
}

async function outcome(methods: Methods, method: string, args: never[]): Promise<object> {
  try {
    return { result: await methods[method]?.(...args) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : "it threw" };
  }
}
