import { type Paint, paint } from "./paint.js";
import { type Progress, type Screen, showProgress } from "./progress.js";
import { columns, wrap } from "./text.js";

const WIDEST = 100;

/** What the demo shows, line by line. */
export class View {
  readonly paint: Paint;
  readonly #screen: Screen;
  #muted = false;
  #progress: Progress | undefined;

  constructor(stream: NodeJS.WriteStream, wantsColor: boolean) {
    const live = stream.isTTY === true && process.env.TERM !== "dumb";
    const noColor = process.env.NO_COLOR;
    this.paint = paint(live && wantsColor && (noColor === undefined || noColor === ""));
    const line = (text: string): void => {
      if (!this.#muted) stream.write(`  ${text}\n`);
    };
    this.#screen = { stream, live, line };
  }

  /** Begins an act of the story. */
  act(number: number, title: string): void {
    if (this.#muted) return;
    this.#screen.stream.write(`\n${this.paint.bold(`${number}. ${title}`)}\n`);
  }

  say(text: string): void {
    for (const line of wrap(text, this.#width)) this.#screen.line(line);
  }

  /** Something that went as it should. */
  good(text: string): void {
    const lines = wrap(text, this.#width - 3);
    lines.forEach((line, at) => {
      this.#screen.line(at === 0 ? `${this.paint.green("ok")} ${line}` : `   ${line}`);
    });
  }

  /** Something that is lost, wrong or broken. */
  bad(text: string): void {
    for (const line of wrap(text, this.#width)) this.#screen.line(this.paint.red(line));
  }

  /** The very words of a refusal. */
  quote(who: string, words: string): void {
    this.#screen.line(`${who}:`);
    for (const line of wrap(words, this.#width - 4))
      this.#screen.line(this.paint.dim(`  | ${line}`));
  }

  progress(label: string, total: number): Progress {
    const screen = this.#muted ? { ...this.#screen, live: false } : this.#screen;
    this.#progress = showProgress(screen, label, total);
    return this.#progress;
  }

  table(rows: readonly (readonly string[])[]): void {
    for (const line of columns(rows)) this.#screen.line(line);
  }

  /** Says one last thing; acts that still end say nothing after it. */
  mute(text: string): void {
    this.#progress?.end();
    this.line("");
    this.line(text);
    this.#muted = true;
  }

  /** A line of its own, at the very left. */
  line(text: string): void {
    this.#screen.stream.write(`${text}\n`);
  }

  get #width(): number {
    return Math.max(40, Math.min(WIDEST, this.#screen.stream.columns || WIDEST) - 2);
  }
}
