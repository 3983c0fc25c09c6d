import { finishScript } from "@echomq/scripts";
import { unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";

/** Fields of one page of `HSCAN`, and most ids of one release. */
const PAGE = 500;

const RELEASED = {
  how: "release",
  atm: 0,
  ats: 0,
  delay: 0,
  value: "",
  stack: "",
  lock: 0,
  letter: "",
} as const;

interface Owner {
  readonly token: string;
  /** When it was claimed, in server ms. */
  readonly at: number;
}

interface Found extends Owner {
  readonly id: string;
}

/**
 * Claims whose reply was lost. The server knows what they took by their tokens; this worker never learned
 * the ids.
 */
export class LostClaims {
  readonly #session: Session;
  readonly #tokens = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  add(token: string): void {
    this.#tokens.add(token);
  }

  /**
   * Gives back what they took, as far as it is still theirs.
   * @throws ServerError; then they are still to be given back.
   */
  async release(): Promise<void> {
    if (this.#tokens.size === 0) return;
    const tokens = new Set(this.#tokens);
    this.#tokens.clear();
    try {
      await release(this.#session, await ownedBy(this.#session, tokens));
    } catch (error) {
      for (const token of tokens) this.#tokens.add(token);
      throw error;
    }
  }
}

async function release(session: Session, found: readonly Found[]): Promise<void> {
  // The oldest last: each page goes to the head of the line, before the one sent earlier.
  for (let end = found.length; end > 0; end -= PAGE) {
    const page = found.slice(Math.max(end - PAGE, 0), end);
    const now = await session.clock.now();
    const all = Number.MAX_SAFE_INTEGER;
    await session.main.run(
      finishScript,
      {
        q: session.q,
        jobs: page.map(({ id }) => id),
        dedups: [],
        args: { now, keepCount: all, keepAge: 0, failCount: all, failAge: 0 },
        items: page.map(({ token }) => ({ token, ...RELEASED })),
      },
      { op: "release lost claims" },
    );
  }
}

async function ownedBy(session: Session, tokens: ReadonlySet<string>): Promise<Found[]> {
  const key = unitKey(session.q, "owners");
  const found = new Map<string, Owner>();
  let cursor = "0";
  do {
    const reply = await session.main.command(
      ["HSCAN", key, cursor, "COUNT", String(PAGE)],
      { key },
      { repeatable: true, op: "release lost claims" },
    );
    const [next, pairs] = reply as readonly [string, readonly string[]];
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const [claimedAt, mark = ""] = pairs[at + 1]?.split(":") ?? [];
      const token = mark.replace(/!$/, "");
      const id = pairs[at] ?? "";
      if (tokens.has(token) && isJobId(id)) found.set(id, { token, at: Number(claimedAt) });
    }
    cursor = next;
  } while (cursor !== "0");
  return inLine(session, found);
}

/** As they stood in line: by claim, and by the part of a millisecond that tells the place in it. */
async function inLine(session: Session, owners: ReadonlyMap<string, Owner>): Promise<Found[]> {
  const key = unitKey(session.q, "active");
  const ids = [...owners.keys()];
  const scores: (string | null)[] = [];
  for (let at = 0; at < ids.length; at += PAGE) {
    const page = ["ZMSCORE", key, ...ids.slice(at, at + PAGE)];
    const options = { repeatable: true, op: "release lost claims" };
    scores.push(...((await session.main.command(page, { key }, options)) as (string | null)[]));
  }
  const rows = [...owners].map(([id, owner], at) => {
    const ends = -Number(scores[at] ?? 0);
    return { id, ...owner, place: ends - Math.floor(ends) };
  });
  return rows.sort((a, b) => a.at - b.at || byCount(a.token, b.token) || a.place - b.place);
}

/** The tokens of one worker grow, by length first. */
function byCount(one: string, other: string): number {
  if (one === other) return 0;
  return one.length - other.length || (one < other ? -1 : 1);
}
