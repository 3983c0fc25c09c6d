/** What became of options that BullMQ has and this does not: whoever moves meets them first. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    "prefix",
    "keys are emq:{queue}:..., so environments that share a server name their queues apart",
  ],
  ["repeat", "job schedulers are not there yet"],
  ["repeatJobKey", "job schedulers are not there yet"],
  ["parent", "flows are not there yet"],
  ["failParentOnFailure", "flows are not there yet"],
  ["ignoreDependencyOnFailure", "flows are not there yet"],
  ["removeDependencyOnFailure", "flows are not there yet"],
  ["debounce", "deduplication does this"],
  ["sizeLimit", "maxDataSize of the queue does this"],
  ["stackTraceLimit", "the last stacks are kept by themselves"],
  ["limit", "give a count, { age } or { count, age }"],
  ["maxRetriesPerRequest", "leave it out: each connection is retried by itself, for retryTime ms"],
  ["enableReadyCheck", "leave it out: a connection is used once it answers"],
  ["enableOfflineQueue", "leave it out: nothing is sent twice"],
  ["lazyConnect", "leave it out: a queue connects with its first call"],
  ["url", "give the URL itself as connection"],
  ["family", "give a client of ioredis or node-redis as connection"],
  ["sentinels", "give a client of ioredis or node-redis as connection"],
  ["keyPrefix", "keys are emq:{queue}:..., and no client may change them"],
  ["drainDelay", "a worker waits until it is woken"],
  ["lockRenewTime", "leases are renewed at half of lockDuration"],
  ["skipLockRenewal", "fetch jobs by hand with renew: false"],
  ["skipStalledCheck", "stalledInterval sets how often it looks"],
  ["runRetryDelay", "trouble is retried by itself"],
  ["useWorkerThreads", "a file as handler runs in threads"],
  ["skipVersionCheck", "the fence is not to be switched off"],
  ["skipMetasUpdate", "settings are written with the first job only"],
  ["blockingConnection", "connections are opened as they are needed"],
]);

/** What does the work of an option that is known elsewhere; undefined for any other. */
export function elsewhere(name: string): string | undefined {
  const advice = ADVICE.get(name);
  return advice && `${advice} (docs/migrating.md)`;
}
