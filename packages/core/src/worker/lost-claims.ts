import { finishScript } from "@echomq/scripts";
import { unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";

/** Fields of one page of `HSCAN`, and most ids of one release. */
const PAGE = 500;

/**
 * Gives back what claims took whose reply was lost. The server knows them by their tokens; this worker
 * never learned their ids.
 */
export async function releaseLostClaims(
  session: Session,
  tokens: ReadonlySet<string>,
): Promise<number> {
  const found = await ownedBy(session, tokens);
  for (let at = 0; at < found.length; at += PAGE) {
    const page = found.slice(at, at + PAGE);
    const now = await session.clock.now();
    const all = Number.MAX_SAFE_INTEGER;
    await session.main.run(
      finishScript,
      {
        q: session.q,
        jobs: page.map(({ id }) => id),
        dedups: [],
        args: { now, keepCount: all, keepAge: 0, failCount: all, failAge: 0 },
        items: page.map(({ token }) => ({
          token,
          how: "release",
          atm: 0,
          ats: 0,
          delay: 0,
          value: "",
          stack: "",
          lock: 0,
          letter: "",
        })),
      },
      { op: "release lost claims" },
    );
  }
  return found.length;
}

async function ownedBy(
  session: Session,
  tokens: ReadonlySet<string>,
): Promise<{ readonly id: string; readonly token: string }[]> {
  const key = unitKey(session.q, "owners");
  const found = new Map<string, string>();
  let cursor = "0";
  do {
    const reply = await session.main.command(
      ["HSCAN", key, cursor, "COUNT", String(PAGE)],
      { key },
      { repeatable: true, op: "release lost claims" },
    );
    const [next, pairs] = reply as readonly [string, readonly string[]];
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const token = pairs[at + 1]?.split(":")[1]?.replace(/!$/, "") ?? "";
      const id = pairs[at] ?? "";
      if (tokens.has(token) && isJobId(id)) found.set(id, token);
    }
    cursor = next;
  } while (cursor !== "0");
  // A small hash keeps the order of the claim; in a large one only minted ids still tell it.
  const ids = [...found.keys()];
  if (ids.every((id) => /^\d{1,19}$/.test(id)))
    ids.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return ids.map((id) => ({ id, token: found.get(id) ?? "" }));
}
