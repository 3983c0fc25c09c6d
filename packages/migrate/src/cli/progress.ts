import { Presets, SingleBar } from "cli-progress";
import type { Progress } from "../context.js";

/** Shows how far a phase has come. */
export interface ProgressView {
  show(progress: Progress): void;
  stop(): void;
}

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** A bar with rate and remaining time on a terminal; a line now and then elsewhere. */
export function progressView(stream: Stream): ProgressView {
  return stream.isTTY === true ? bar(stream) : lines(stream);
}

function bar(stream: Stream): ProgressView {
  let current: SingleBar | null = null;
  let part = "";
  let started = 0;
  const stop = (): void => {
    current?.stop();
    current = null;
  };
  return {
    show(progress) {
      const name = `${progress.phase} ${progress.part}`;
      if (current === null || name !== part) {
        stop();
        part = name;
        started = performance.now();
        const format = `${name} {bar} {percentage}% | {value}/{total} | {rate}/s | {eta_formatted}`;
        // A hidden cursor would stay hidden after a kill.
        current = new SingleBar({ format, stream, hideCursor: false }, Presets.rect);
        current.start(progress.total ?? progress.done, 0, { rate: 0 });
      }
      current.setTotal(progress.total ?? progress.done);
      current.update(progress.done, { rate: rateOf(progress.done, started) });
    },
    stop,
  };
}

const LINE_EVERY_MS = 2_000;

function lines(stream: Stream): ProgressView {
  let part = "";
  let started = 0;
  let said = 0;
  return {
    show(progress) {
      const name = `${progress.phase} ${progress.part}`;
      const now = performance.now();
      if (name !== part) {
        part = name;
        started = now;
        said = now;
      }
      if (now - said < LINE_EVERY_MS) return;
      said = now;
      const total = progress.total === null ? "" : ` of ${progress.total}`;
      stream.write(`${name}: ${progress.done}${total}, ${rateOf(progress.done, started)}/s\n`);
    },
    stop: () => undefined,
  };
}

function rateOf(done: number, started: number): number {
  const seconds = (performance.now() - started) / 1_000;
  return seconds < 0.01 ? 0 : Math.round(done / seconds);
}
