/**
 * What runs in each thread of a sandboxed handler. It is text, so that it needs no file of its own next
 * to the package: bundlers and loaders leave it alone.
 */
export const PROGRAM: string = `"use strict";
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
const METHODS = ["updateProgress", "updateData", "log", "moveToDelayed", "moveToWait", "getState"];
const loading = import(workerData.file).then((module) => {
  let handler = module.default;
  if (typeof handler !== "function" && handler) handler = handler.default;
  if (typeof handler === "function") return handler;
  throw new TypeError(workerData.file + " has no function as its default export");
});
loading.catch(() => {});
const calls = new Map();
let count = 0;
let controller;

function call(method, args) {
  return new Promise((resolve, reject) => {
    count += 1;
    calls.set(count, { resolve, reject });
    parentPort.postMessage({ type: "call", id: count, method, args });
  });
}

function plain(thrown) {
  try {
    if (thrown instanceof Error || (typeof thrown === "object" && thrown && "message" in thrown)) {
      const { name, message, stack, code, delay } = thrown;
      const text = (value) => (value === undefined ? undefined : String(value));
      return {
        error: { name: text(name), message: text(message), stack: text(stack), code: text(code), delay: Number(delay) },
      };
    }
    return { value: structuredClone(thrown) };
  } catch {
    return { error: { name: "Error", message: "the handler threw a value that cannot be read" } };
  }
}

function revive({ name, message, stack, ...rest }) {
  const error = Object.assign(new Error(message), rest);
  Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  if (stack) error.stack = stack;
  return error;
}

async function run({ job, token }) {
  controller = new AbortController();
  const { signal } = controller;
  for (const method of METHODS) job[method] = (...args) => call(method, args);
  job.updateData = async (data) => {
    await call("updateData", [data]);
    job.data = data;
  };
  job.updateProgress = async (progress) => {
    await call("updateProgress", [progress]);
    job.progress = progress;
  };
  try {
    const handler = await loading;
    const value = await handler(job, { signal, token });
    parentPort.postMessage({ type: "done", value });
  } catch (thrown) {
    parentPort.postMessage({ type: "failed", ...plain(thrown) });
  }
}

parentPort.on("message", (message) => {
  if (message.type === "run") return void run(message);
  if (message.type === "abort") return controller && controller.abort(revive(message.error));
  const waiting = calls.get(message.id);
  if (!waiting) return;
  calls.delete(message.id);
  if (message.error) waiting.reject(revive(message.error));
  else waiting.resolve(message.value);
});
`;
