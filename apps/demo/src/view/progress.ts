import { SingleBar } from "cli-progress";
import { Pace } from "./pace.js";
import { perSecond } from "./text.js";

/** How something gets on. Rates are those of the last second, at the end the average. */
export interface Progress {
  /** `note` is what is worth saying beside the numbers, e.g. `3 failed`. */
  update(done: number, note?: string): void;
  /** Says something in between. */
  say(text: string): void;
  end(): void;
}

/** Where progress is shown. */
export interface Screen {
  readonly stream: NodeJS.WriteStream;
  readonly live: boolean;
  line(text: string): void;
}

const LINE_EVERY_MS = 1_000;
/** Longest bar, and columns that its text needs beside it. */
const BAR_MAX = 30;
const TEXT_COLUMNS = 70;

/** Shows progress: a bar on a terminal, a plain line each second elsewhere. */
export function showProgress(screen: Screen, label: string, total: number): Progress {
  return screen.live ? bar(screen, label, total) : lines(screen, label, total);
}

function lines(screen: Screen, label: string, total: number): Progress {
  const pace = new Pace();
  let told = performance.now();
  let state = { done: 0, note: "" };
  let open = true;
  const tell = (rate: string): void => {
    const { done, note } = state;
    const beside = note === "" ? "" : `, ${note}`;
    screen.line(`${label}: ${done} of ${total}, ${rate}, ${total - done} remaining${beside}`);
  };
  return {
    update(done, note = "") {
      state = { done, note };
      pace.add(done);
      if (!open || performance.now() - told < LINE_EVERY_MS) return;
      told = performance.now();
      tell(`${pace.rate}/s`);
    },
    say: (text) => screen.line(text),
    end() {
      if (open) tell(`${perSecond(state.done, pace.ms)} on average`);
      open = false;
    },
  };
}

function bar(screen: Screen, label: string, total: number): Progress {
  const pace = new Pace();
  let state = { done: 0, note: "" };
  const values = (rate: string): Record<string, string | number> => ({
    rate,
    left: total - state.done,
    note: state.note === "" ? "" : `, ${state.note}`,
  });
  const begin = (): SingleBar => {
    const one = new SingleBar({
      format: `  ${label} [{bar}] {value} of {total}, {rate}, {left} remaining{note}`,
      barsize: Math.max(5, Math.min(BAR_MAX, (screen.stream.columns || 80) - TEXT_COLUMNS)),
      stream: screen.stream,
      barCompleteChar: "#",
      barIncompleteChar: "-",
      // The demo answers signals itself.
      gracefulExit: false,
    });
    one.start(total, state.done, values(`${pace.rate}/s`));
    return one;
  };
  let current: SingleBar | null = begin();
  return {
    update(done, note = "") {
      state = { done, note };
      pace.add(done);
      current?.update(done, values(`${pace.rate}/s`));
    },
    say(text) {
      current?.stop();
      screen.line(text);
      if (current !== null) current = begin();
    },
    end() {
      current?.update(state.done, values(`${perSecond(state.done, pace.ms)} on average`));
      current?.stop();
      current = null;
    },
  };
}
