import { ACTIVE_RULE } from "./errors.js";

/** How to move a deployment, as the tool prints it. */
export const RUNBOOK: string = `Moving a queue from v1 to the EchoMQ 2 wire

   Run each command as  npx -p @echomq/migrate -p ioredis echomq-migrate <command>
   Give the queue as v1 spells it, braces included, and --prefix when v1 uses another than bull, on
   every command. A command told another queue or prefix than the run was started with is refused.
   --url, or ECHOMQ_REDIS_URL in the environment, is the server: rediss://user:password@host:6380/2
   Reports and refusals end with the next command, ready to be run. --json gives documents instead.

1. Upgrade nothing yet. Look first:
     echomq-migrate discover
     echomq-migrate plan --queue orders
2. Stop producers and admin tools of the queue: a forgotten client that knows an id can still
   change or remove that job. Let v1 workers finish what is running:
     echomq-migrate drain --queue orders
   ${ACTIVE_RULE.replace("jobs", "Jobs")}
3. Stop v1 workers. A v1 worker that meets a fenced queue retries in a hot loop. Then move:
     echomq-migrate run --queue orders
   It walks drain, plan, fence, copy, verify and commit. It may be stopped by Ctrl-C, or killed, at
   any moment; the same command goes on where it stood. Until it has ended neither v1 nor v2 works.
4. Start v2 workers and producers. Watch:
     echomq-migrate status --queue orders
   Keep the v1 keys until you are sure. Later, and for good:
     echomq-migrate commit --purge-v1 --queue orders
5. Anything wrong before step 4:
     echomq-migrate rollback --queue orders
   The v1 keys are as they were, and v1 workers may start again. Once a v2 client has opened the
   queue there is no way back: v2 may hold work that v1 never saw.
6. Several services: one queue after the other, each with steps 1 to 4. Queues joined by flows are
   not carried yet and are refused. Leaving v2:
     echomq-migrate remove --queue orders          (prints)
     echomq-migrate remove --queue orders --yes    (deletes every v2 key of the queue)

Exit status: 0 done, 1 refused, 2 used wrongly, 3 connection trouble, 4 verification failed,
130 stopped by Ctrl-C (143 by SIGTERM).
`;
