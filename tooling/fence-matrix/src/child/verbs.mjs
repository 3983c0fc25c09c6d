/**
 * One call, or several, of every public verb of the five lines. A key is `<class>.<verb>`, with
 * `:<variant>` where one call is not enough. Each gets the child's objects.
 */

const later = () => Date.now() + 60_000;
const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const token = "v1-token";

const addWith = (opts) => (c) => c.queue.add("intruder", { by: "v1" }, opts);
const cleanOf = (type) => (c) => c.queue.clean(0, 1000, type);
const get = (of, name) => (c) => of(c)[name];
const call =
  (of, name, ...args) =>
  (c) =>
    of(c)[name](...args);
const redisOf = (object) => object.client ?? object.getBackend().client;
const queue = (c) => c.queue;
const worker = (c) => c.worker;
const scheduler = (c) => c.scheduler;
const repeat = (c) => c.repeat;
const job = (state) => (c) => c.job(state);

/** What every class with a connection of its own has. */
function connection(kind, of) {
  return {
    [`${kind}.client`]: async (c) => void (await of(c).client),
    [`${kind}.redisVersion`]: get(of, "redisVersion"),
    [`${kind}.waitUntilReady`]: async (c) => void (await of(c).waitUntilReady()),
    [`${kind}.trace`]: (c) => of(c).trace(0, "op", "name", () => undefined),
    [`${kind}.close`]: (c) => c.fresh(kind).close(),
    [`${kind}.disconnect`]: async (c) => {
      const object = c.fresh(kind);
      await (object.client ?? object.waitUntilReady());
      await object.disconnect();
    },
    [`${kind}.getBackend`]: (c) => void of(c).getBackend(),
  };
}

const QUEUE_READS = Object.fromEntries(
  [
    ...["count", "getActive", "getActiveCount", "getCompleted", "getCompletedCount", "getDelayed"],
    ...["getDelayedCount", "getFailed", "getFailedCount", "getGlobalConcurrency", "isMaxed"],
    ...["getGlobalRateLimit", "getJobCounts", "getJobSchedulers", "getJobSchedulersCount"],
    ...["getJobs", "getMeta", "getPrioritized", "getPrioritizedCount", "getQueueEvents"],
    ...["getRateLimitTtl", "getRepeatableJobs", "getVersion", "getWaiting", "getWaitingCount"],
    ...["getWaitingChildren", "getWaitingChildrenCount", "getWorkers", "getWorkersCount"],
    ...["isPaused", "exportPrometheusMetrics", "recordJobCountsMetric"],
  ].map((name) => [`Queue.${name}`, call(queue, name)]),
);

const QUEUE = {
  ...connection("Queue", queue),
  ...QUEUE_READS,
  "Queue.add": addWith({}),
  "Queue.add:delay": addWith({ delay: 1 }),
  "Queue.add:priority": addWith({ priority: 3 }),
  "Queue.add:lifo": addWith({ lifo: true }),
  "Queue.add:jobId": addWith({ jobId: "given" }),
  "Queue.add:repeat": addWith({ repeat: { every: 1000 } }),
  "Queue.add:deduplication": addWith({ deduplication: { id: "once", ttl: 5000 } }),
  "Queue.add:parent": (c) =>
    addWith({ parent: { id: c.ids.waiting, queue: `${c.prefix}:${c.name}` } })(c),
  "Queue.addBulk": (c) =>
    c.queue.addBulk([
      { name: "intruder", data: 1 },
      { name: "intruder", data: 2, opts: { delay: 5 } },
    ]),
  "Queue.addJobLog": (c) => c.queue.addJobLog(c.ids.active, "line"),
  "Queue.clean": cleanOf("completed"),
  "Queue.clean:wait": cleanOf("wait"),
  "Queue.clean:active": cleanOf("active"),
  "Queue.clean:delayed": cleanOf("delayed"),
  "Queue.clean:failed": cleanOf("failed"),
  "Queue.clean:paused": cleanOf("paused"),
  "Queue.clean:prioritized": cleanOf("prioritized"),
  "Queue.drain": call(queue, "drain"),
  "Queue.drain:delayed": call(queue, "drain", true),
  "Queue.getCountsPerPriority": call(queue, "getCountsPerPriority", [0, 1, 3]),
  "Queue.getDebounceJobId": call(queue, "getDebounceJobId", "once"),
  "Queue.getDeduplicationJobId": call(queue, "getDeduplicationJobId", "once"),
  "Queue.getDependencies": (c) => c.queue.getDependencies(c.ids.waiting, "pending", 0, 10),
  "Queue.getJob": (c) => c.queue.getJob(c.ids.waiting),
  "Queue.getJobCountByTypes": call(queue, "getJobCountByTypes", "wait", "active", "delayed"),
  "Queue.getJobLogs": (c) => c.queue.getJobLogs(c.ids.completed),
  "Queue.getJobScheduler": call(queue, "getJobScheduler", "daily"),
  "Queue.getJobState": (c) => c.queue.getJobState(c.ids.waiting),
  "Queue.getMetrics": call(queue, "getMetrics", "completed"),
  "Queue.getRanges": call(queue, "getRanges", ["wait", "active", "completed"]),
  "Queue.jobScheduler": async (c) => void (await c.queue.jobScheduler),
  "Queue.repeat": async (c) => void (await c.queue.repeat),
  "Queue.metaValues": get(queue, "metaValues"),
  "Queue.defaultJobOptions": get(queue, "defaultJobOptions"),
  "Queue.obliterate": call(queue, "obliterate"),
  "Queue.obliterate:force": call(queue, "obliterate", { force: true }),
  "Queue.pause": call(queue, "pause"),
  "Queue.promoteJobs": call(queue, "promoteJobs"),
  "Queue.rateLimit": call(queue, "rateLimit", 5000),
  "Queue.remove": (c) => c.queue.remove(c.ids.waiting),
  "Queue.removeDebounceKey": call(queue, "removeDebounceKey", "once"),
  "Queue.removeDeduplicationKey": call(queue, "removeDeduplicationKey", "once"),
  "Queue.removeDeprecatedPriorityKey": call(queue, "removeDeprecatedPriorityKey"),
  "Queue.removeGlobalConcurrency": call(queue, "removeGlobalConcurrency"),
  "Queue.removeGlobalRateLimit": call(queue, "removeGlobalRateLimit"),
  "Queue.removeJobScheduler": call(queue, "removeJobScheduler", "daily"),
  "Queue.removeOrphanedJobs": call(queue, "removeOrphanedJobs"),
  "Queue.removeRateLimitKey": call(queue, "removeRateLimitKey"),
  "Queue.removeRepeatable": call(queue, "removeRepeatable", "tick", { every: 1000 }),
  "Queue.removeRepeatableByKey": call(queue, "removeRepeatableByKey", "tick::::1000"),
  "Queue.resume": call(queue, "resume"),
  "Queue.retryJobs": call(queue, "retryJobs"),
  "Queue.retryJobs:completed": call(queue, "retryJobs", { state: "completed" }),
  "Queue.setGlobalConcurrency": call(queue, "setGlobalConcurrency", 1),
  "Queue.setGlobalRateLimit": call(queue, "setGlobalRateLimit", 1, 1000),
  "Queue.trimEvents": call(queue, "trimEvents", 0),
  "Queue.updateJobProgress": (c) => c.queue.updateJobProgress(c.ids.active, 50),
  "Queue.upsertJobScheduler": call(queue, "upsertJobScheduler", "daily", { every: 1000 }),
  "Queue.upsertJobScheduler:pattern": call(queue, "upsertJobScheduler", "daily", {
    pattern: "* * * * * *",
  }),
};

const WORKER = {
  ...connection("Worker", worker),
  "Worker.cancelAllJobs": call(worker, "cancelAllJobs"),
  "Worker.cancelJob": (c) => c.worker.cancelJob(c.ids.active),
  "Worker.concurrency": get(worker, "concurrency"),
  "Worker.delay": call(worker, "delay", 1),
  "Worker.extendJobLocks": (c) => c.worker.extendJobLocks([c.ids.active], [token], 1000),
  "Worker.getNextJob": call(worker, "getNextJob", token, { block: false }),
  "Worker.isPaused": call(worker, "isPaused"),
  "Worker.isRunning": call(worker, "isRunning"),
  "Worker.jobScheduler": async (c) => void (await c.worker.jobScheduler),
  "Worker.repeat": async (c) => void (await c.worker.repeat),
  "Worker.maximumBlockTimeout": get(worker, "maximumBlockTimeout"),
  "Worker.minimumBlockTimeout": get(worker, "minimumBlockTimeout"),
  "Worker.pause": call(worker, "pause", true),
  "Worker.resume": call(worker, "resume"),
  "Worker.processJob": (c) => c.worker.processJob(c.job("active"), token, () => false, new Set()),
  "Worker.rateLimit": call(worker, "rateLimit", 5000),
  "Worker.startStalledCheckTimer": async (c) => {
    const own = c.fresh("Worker");
    void own.startStalledCheckTimer()?.catch?.((error) => c.note("error", error));
    await soon(50);
    await own.close(true);
  },
  // Works for a while: a v1 worker takes the first job in a few milliseconds if there is one.
  "Worker.run": async (c) => {
    const own = c.fresh("Worker");
    void own.run().catch((error) => c.note("error", error));
    await soon(120);
    await own.close(true);
  },
};

const JOB_READS = Object.fromEntries(
  [
    ...["asJSON", "asJSONSandbox", "getChildrenValues", "getDependencies", "getDependenciesCount"],
    ...["getFailedChildrenValues", "getIgnoredChildrenFailures", "getState", "isActive"],
    ...["isCompleted", "isDelayed", "isFailed", "isWaiting", "isWaitingChildren", "toFlowEntry"],
    ...["toJSON"],
  ].map((name) => [`Job.${name}`, async (c) => void (await c.job("waiting")[name]())]),
);

const JOB = {
  ...JOB_READS,
  "Job.addJob": async (c) =>
    Object.assign(c.job("waiting"), { id: undefined }).addJob(await redisOf(c.queue), {}),
  "Job.changeDelay": call(job("delayed"), "changeDelay", 1),
  "Job.changePriority": call(job("prioritized"), "changePriority", { priority: 1 }),
  "Job.clearLogs": call(job("completed"), "clearLogs"),
  "Job.discard": call(job("active"), "discard"),
  "Job.extendLock": call(job("active"), "extendLock", token, 1000),
  "Job.log": call(job("active"), "log", "line"),
  "Job.moveToCompleted": call(job("active"), "moveToCompleted", "stolen", token, false),
  "Job.moveToCompleted:fetchNext": call(job("active"), "moveToCompleted", "stolen", token, true),
  "Job.moveToDelayed": (c) => c.job("active").moveToDelayed(later(), token),
  "Job.moveToFailed": (c) => c.job("active").moveToFailed(new Error("stolen"), token, false),
  "Job.moveToWait": call(job("active"), "moveToWait", token),
  "Job.moveToWaitingChildren": call(job("active"), "moveToWaitingChildren", token),
  "Job.prefix": get(job("waiting"), "prefix"),
  "Job.queueName": get(job("waiting"), "queueName"),
  "Job.queueQualifiedName": get(job("waiting"), "queueQualifiedName"),
  "Job.promote": call(job("delayed"), "promote"),
  "Job.remove": call(job("waiting"), "remove"),
  "Job.remove:completed": call(job("completed"), "remove"),
  "Job.removeChildDependency": call(job("waiting"), "removeChildDependency"),
  "Job.removeDeduplicationKey": (c) => {
    const one = c.job("waiting");
    one.deduplicationId = "once";
    return one.removeDeduplicationKey();
  },
  "Job.removeUnprocessedChildren": call(job("waiting"), "removeUnprocessedChildren"),
  "Job.retry": call(job("failed"), "retry"),
  "Job.retry:completed": call(job("completed"), "retry", "completed"),
  "Job.update": call(job("waiting"), "update", { by: "intruder" }),
  "Job.updateData": call(job("waiting"), "updateData", { by: "intruder" }),
  "Job.updateProgress": call(job("active"), "updateProgress", 50),
  "Job.waitUntilFinished": (c) => c.job("waiting").waitUntilFinished(c.events, 50),
  "Job.static addJobLog": (c) => c.M.Job.addJobLog(c.queue, c.ids.active, "line"),
  "Job.static create": (c) => c.M.Job.create(c.queue, "intruder", {}, {}),
  "Job.static createBulk": (c) =>
    c.M.Job.createBulk(c.queue, [{ name: "intruder", data: {}, opts: {} }]),
  "Job.static fromId": (c) => c.M.Job.fromId(c.queue, c.ids.waiting),
  "Job.static fromJSON": (c) => void c.job("waiting"),
  "Job.static optsAsJSON": (c) => c.M.Job.optsAsJSON({ attempts: 2 }),
  "Job.static optsFromJSON": (c) => c.M.Job.optsFromJSON('{"attempts":2}'),
};

const flow = (c) => c.flow;
const flowJob = (c, more = {}) => ({ name: "intruder", queueName: c.name, data: {}, ...more });

const FLOW = {
  ...connection("FlowProducer", flow),
  "FlowProducer.add": (c) => c.flow.add(flowJob(c)).then(() => "success"),
  "FlowProducer.add:children": (c) =>
    c.flow.add(flowJob(c, { children: [flowJob(c), flowJob(c)] })).then(() => "success"),
  "FlowProducer.addBulk": (c) => c.flow.addBulk([flowJob(c), flowJob(c)]).then(() => "success"),
  "FlowProducer.getFlow": (c) =>
    c.flow.getFlow({ queueName: c.name, id: c.ids.waiting, prefix: c.prefix }),
};

const EVENTS = {
  ...connection("QueueEvents", (c) => c.events),
  "QueueEvents.run": async (c) => {
    const own = c.fresh("QueueEvents");
    for (const event of ["waiting", "active", "completed", "failed", "delayed", "added"]) {
      own.on(event, () => c.note("heard"));
    }
    void own.run().catch((error) => c.note("error", error));
    await soon(60);
    await own.close();
  },
};

const SCHEDULER = {
  ...connection("JobScheduler", scheduler),
  "JobScheduler.getJobSchedulers": call(scheduler, "getJobSchedulers"),
  "JobScheduler.getScheduler": call(scheduler, "getScheduler", "daily"),
  "JobScheduler.getSchedulersCount": call(scheduler, "getSchedulersCount"),
  "JobScheduler.isJobScheduler": call(scheduler, "isJobScheduler", "daily"),
  "JobScheduler.removeJobScheduler": call(scheduler, "removeJobScheduler", "daily"),
  "JobScheduler.upsertJobScheduler": (c) =>
    c.scheduler.upsertJobScheduler("daily", { every: 1000 }, "run", {}, {}, { override: true }),
};

const REPEAT = {
  ...connection("Repeat", repeat),
  "Repeat.addNextRepeatableJob": (c) =>
    c.repeat.addNextRepeatableJob("tick", {}, { repeat: { every: 1000 } }, true),
  "Repeat.updateRepeatableJob": (c) =>
    c.repeat.updateRepeatableJob("tick", {}, { repeat: { every: 1000 } }, { override: true }),
  "Repeat.getRepeatJobKey": call(repeat, "getRepeatJobKey", "tick", 1000, "key", {}),
  "Repeat.getRepeatableCount": call(repeat, "getRepeatableCount"),
  "Repeat.getRepeatableJobs": call(repeat, "getRepeatableJobs"),
  "Repeat.removeRepeatable": call(repeat, "removeRepeatable", "tick", { every: 1000 }),
  "Repeat.removeRepeatableByKey": call(repeat, "removeRepeatableByKey", "tick::::1000"),
};

const PRODUCER = {
  ...connection("QueueEventsProducer", (c) => c.producer),
  "QueueEventsProducer.publishEvent": (c) => c.producer.publishEvent({ eventName: "custom", n: 1 }),
};

/** Calls by name. */
export const VERBS = {
  ...QUEUE,
  ...WORKER,
  ...JOB,
  ...FLOW,
  ...EVENTS,
  ...SCHEDULER,
  ...REPEAT,
  ...PRODUCER,
};

/** Public names that are not tried, each with its reason. */
export const SKIPPED = {
  constructor: "every object of this file is made by it",
  on: "Node's emitter, no command",
  off: "Node's emitter, no command",
  once: "Node's emitter, no command",
  emit: "Node's emitter, no command",
  "static RateLimitError": "makes an error, no command",
};
