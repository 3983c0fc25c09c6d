/** Does what its job's data says, so that one file serves every test. */
module.exports = async function run(job, { signal, token }) {
  switch (job.data.do) {
    case "work":
      await job.updateProgress(50);
      await job.log(`line of ${job.name}`);
      await job.updateData({ ...job.data, seen: true });
      return { id: job.id, token: typeof token, data: job.data };
    case "throw":
      throw new TypeError("thrown in the thread");
    case "null":
      throw null;
    case "exit":
      return process.exit(3);
    case "uncaught":
      setTimeout(() => {
        throw new Error("nobody caught this");
      });
      return new Promise(() => undefined);
    case "memory": {
      const held = [];
      for (;;) held.push(new Array(1_000_000).fill(held.length));
    }
    case "function":
      return () => 1;
    case "trace":
      return { opts: job.opts };
    case "signal":
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await job.log(`told ${signal.reason.name} ${signal.reason.code}`).catch(() => undefined);
      throw signal.reason;
    case "delay":
      if (job.data.seen) return "later";
      await job.updateData({ ...job.data, seen: true });
      throw Object.assign(new Error("later"), { name: "DelayedError", delay: 20 });
    default:
      return job.data;
  }
};
