import { type AsyncHook, AsyncLocalStorage, createHook } from "node:async_hooks";

// What a program leaves open when it forgets something, by the names of Node's async hooks.
const KINDS: Readonly<Record<string, string>> = {
  TCPWRAP: "socket",
  PIPEWRAP: "pipe",
  TCPSERVERWRAP: "listening socket",
  PROCESSWRAP: "child process",
  WORKER: "worker thread",
  Timeout: "timer",
};

interface Handle {
  readonly kind: string;
  readonly resource: WeakRef<object>;
  readonly stack: string;
}

const unwatched = new AsyncLocalStorage<true>();

/** Runs work whose handles, later ones too, are no one's leak: those of the watcher itself. */
export function unwatch<T>(work: () => T): T {
  return unwatched.run(true, work);
}

/** Records the handles opened from now on, until they are closed. */
export class HandleWatch {
  readonly #open = new Map<number, Handle>();
  readonly #hook: AsyncHook;

  constructor() {
    this.#hook = createHook({
      init: (id, type, _trigger, resource) => {
        const kind = KINDS[type];
        if (kind === undefined || unwatched.getStore() === true) return;
        const stack = new Error().stack ?? "";
        this.#open.set(id, { kind, resource: new WeakRef(resource), stack });
      },
      destroy: (id) => {
        this.#open.delete(id);
      },
    }).enable();
  }

  /** The open handles that keep the process alive, each with the line that made it. */
  left(): string[] {
    return [...this.#open.values()].filter(isHeld).map(({ kind, stack }) => {
      return `${kind} from ${origin(stack)}`;
    });
  }

  end(): void {
    this.#hook.disable();
  }
}

function isHeld({ resource }: Handle): boolean {
  const handle = resource.deref() as { hasRef?: () => boolean } | undefined;
  if (handle === undefined) return false;
  return handle.hasRef?.() ?? true;
}

function origin(stack: string): string {
  const frames = stack.split("\n").slice(2);
  const own = frames.filter((frame) => frame.includes("/") && !frame.includes("node:"));
  const outside = own.find((frame) => !frame.includes("node_modules"));
  return (outside ?? own[0] ?? frames[0] ?? "").trim().replace(/^at /, "");
}
