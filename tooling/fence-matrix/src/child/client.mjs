import { Cluster } from "ioredis";

/** The objects of one v1 line that a child works with, all on one queue. */

/** The packages by alias; each import is written out, so that a check sees what is used. */
const PACKAGES = {
  "bullmq-3": () => import("bullmq-3"),
  "bullmq-4": () => import("bullmq-4"),
  "bullmq-50": () => import("bullmq-50"),
  "bullmq-565": () => import("bullmq-565"),
  "bullmq-67": () => import("bullmq-67"),
};

/** Opens a line's package, whatever its module system. */
export async function load(alias) {
  const module = await PACKAGES[alias]();
  return module.default?.Queue ? module.default : module;
}

/** Everything a v1 program may hold of one queue. Objects are made at first use. */
export class Client {
  #made = new Map();

  constructor(M, { port, prefix, queue, ids = {}, ready = false, user, cluster }, note) {
    this.M = M;
    this.name = queue;
    this.ids = ids;
    this.prefix = prefix;
    this.note = note;
    this.cluster = cluster;
    const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
    if (user) Object.assign(connection, { username: user, password: user });
    const to = cluster ? new Cluster([{ host: "127.0.0.1", port }]) : connection;
    // Without the constructor's own write, so that each call must be refused for itself.
    this.options = { prefix, connection: to, ...(ready ? { skipMetasUpdate: true } : {}) };
  }

  get queue() {
    return this.#once("queue", () => this.fresh("Queue"));
  }
  get worker() {
    return this.#once("worker", () => this.fresh("Worker"));
  }
  get flow() {
    return this.#once("flow", () => this.fresh("FlowProducer"));
  }
  get events() {
    return this.#once("events", () => this.fresh("QueueEvents"));
  }
  get scheduler() {
    return this.#once("scheduler", () => this.fresh("JobScheduler"));
  }
  get repeat() {
    return this.#once("repeat", () => this.fresh("Repeat"));
  }
  get producer() {
    return this.#once("producer", () => this.fresh("QueueEventsProducer"));
  }

  /** A job as a program holds it that has seen it once. */
  job(state) {
    const id = this.ids[state] ?? "1";
    const json = { id, name: "known", data: '{"by":"v1"}', opts: "{}", timestamp: Date.now() };
    Object.assign(json, { progress: 0, attemptsMade: 0, stacktrace: "[]" });
    return this.M.Job.fromJSON(this.queue, json, id);
  }

  /** A new object of a class, with ears for its errors. */
  fresh(kind) {
    const object = this.#construct(kind);
    object.on("error", (error) => this.note("error", error));
    this.#made.set(Symbol(kind), object);
    return object;
  }

  /** Opens what a program keeps open, so that nothing is built after the queue has changed. */
  async ready() {
    await this.queue.waitUntilReady();
    await this.worker.waitUntilReady();
    await (this.flow.waitUntilReady?.() ?? this.flow.client);
    if (this.M.JobScheduler) await this.scheduler.waitUntilReady();
    if (this.M.Repeat) await this.repeat.waitUntilReady();
  }

  async close() {
    await this.#closeAll();
    if (this.cluster) this.options.connection.disconnect();
  }

  async #closeAll() {
    const all = [...this.#made.values()];
    this.#made.clear();
    const end = (object) =>
      (object instanceof this.M.Worker ? object.close(true) : object.close()).catch(
        () => undefined,
      );
    await Promise.race([
      Promise.all(all.map(end)),
      new Promise((resolve) => setTimeout(resolve, 500)),
    ]);
  }

  #construct(kind) {
    const { M, name, options } = this;
    if (kind === "FlowProducer") return new M.FlowProducer(options);
    if (kind === "Worker") {
      const work = async () => {
        this.note("worked");
        return "by v1";
      };
      return new M.Worker(name, work, { ...options, autorun: false, lockDuration: 30_000 });
    }
    if (kind === "QueueEvents") return new M.QueueEvents(name, { ...options, autorun: false });
    return new M[kind](name, options);
  }

  #once(key, make) {
    if (!this.#made.has(key)) {
      const object = make();
      for (const [other, value] of this.#made) if (value === object) this.#made.delete(other);
      this.#made.set(key, object);
    }
    return this.#made.get(key);
  }
}
