/** Hears that this run is to end: by a signal, or because the npm that started it is gone. */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const LOOK_MS = 300;

/** Calls `listener` with the signal to pass on; returns the way to stop listening. */
export function onInterrupt(listener) {
  for (const signal of SIGNALS) process.on(signal, listener);
  // npm passes a signal to its shell, which dies without passing it on.
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    listener("SIGTERM");
  }, LOOK_MS);
  look.unref();
  if (process.env.npm_lifecycle_event === undefined) clearInterval(look);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
    clearInterval(look);
  };
}
