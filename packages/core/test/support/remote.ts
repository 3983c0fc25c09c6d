import { type Child, startChild } from "./child.js";
import { until } from "./until.js";

/** A program in a process of its own that does what it is asked. */
export interface Remote extends Child {
  /** Asks for one thing and waits for the answer. */
  call<T = unknown>(method: string, ...args: readonly unknown[]): Promise<T>;
}

/** Starts a program that serves calls and waits until it does. */
export async function startRemote(
  program: string,
  settings: Record<string, unknown>,
): Promise<Remote> {
  const child = startChild(program, settings);
  let calls = 0;
  const call = async <T>(method: string, ...args: readonly unknown[]): Promise<T> => {
    calls += 1;
    const id = calls;
    child.send(JSON.stringify({ id, method, args }));
    const start = `answer {"id":${id}`;
    const text = await until(`${program} has answered ${method}`, () => {
      const mine = (one: string): boolean => one.startsWith(`${start},`) || one === `${start}}`;
      return child.messages.find(mine) ?? "";
    });
    const answer = JSON.parse(text.slice("answer ".length)) as { result?: T; error?: string };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error}`);
    return answer.result as T;
  };
  await until(`${program} serves`, () => child.messages.includes("serving"));
  return { ...child, call };
}
