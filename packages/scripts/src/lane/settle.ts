import type { Reply, Settled } from "../driver/types.js";

const succeed = (value: Reply): Settled<Reply> => ({ ok: true, value });
const fail = (error: Error): Settled<Reply> => ({ ok: false, error });

/** The outcome of one command as a value. */
export function settle(answer: Promise<Reply>): Promise<Settled<Reply>> {
  return answer.then(succeed, fail);
}
