import { SIDES } from "../sides/index.js";
import type { BenchWorker } from "../sides/types.js";
import { nowUs } from "./clock.js";
import type { Methods } from "./protocol.js";

/** How often children that share a count tell theirs, in ms. */
const TELL_MS = 5;

interface News {
  progress(count: number): void;
  trouble(error: unknown): void;
}

interface Working {
  openWorker(params: Methods["openWorker"]["params"]): Promise<null>;
  expect(params: Methods["expect"]["params"]): Promise<null>;
  starts(): Promise<number[]>;
  closeWorker(): Promise<null>;
}

/** The part of a child that runs a worker. */
export function working(news: News): Working {
  let worker: BenchWorker | undefined;
  let starts: number[] = [];
  let done = 0;
  let total = 0;
  let shared = false;
  let timer: NodeJS.Timeout | undefined;

  const completed = (): void => {
    done += 1;
    if (done === total) news.progress(done);
    else if (shared) {
      timer ??= setTimeout(() => {
        timer = undefined;
        news.progress(done);
      }, TELL_MS);
    }
  };

  return {
    openWorker: async ({ side, ...spec }) => {
      const started = (n: number): void => {
        starts[n] = nowUs();
      };
      worker = await SIDES[side].openWorker(spec, { started, completed, trouble: news.trouble });
      return null;
    },
    expect: async (params) => {
      clearTimeout(timer);
      timer = undefined;
      starts = [];
      done = 0;
      total = params.total;
      shared = params.shared;
      return null;
    },
    starts: async () => starts,
    closeWorker: async () => {
      await worker?.close();
      worker = undefined;
      return null;
    },
  };
}
