import { guardV1Queue } from "@echomq/migrate/v1-guard";
import { isEchoMQError } from "@echomq/wire";
import { PREFIX, QUEUE } from "../keyspace.js";
import { insist, type Stage } from "../stage.js";
import type { V1ProducerTask } from "../work/messages.js";

/** Act: a v1 client that nobody told of the move is refused by the server itself. */
export async function refuseV1(stage: Stage): Promise<void> {
  const { view, url, root } = stage;
  const producer = await stage.child<V1ProducerTask>("v1-producer");
  const answered = producer.next((message) => (message.type === "answer" ? message : undefined));
  producer.begin({ url, queue: QUEUE, root });
  const { accepted, text } = await answered;
  insist(!accepted, `a forgotten v1 producer was let in: ${text}`);
  insist(text.includes("WRONGTYPE"), `a forgotten v1 producer failed in another way: ${text}`);
  view.quote(`bullmq's Queue.add (pid ${producer.pid}) is refused by the server`, text);
  await producer.stop();
  const error: unknown = await guardV1Queue(stage.admin, { queue: QUEUE, prefix: PREFIX }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isEchoMQError(error, "MIGRATION_TOMBSTONE")) {
    insist(error !== undefined, "the v1 guard let a v1 client in");
    throw error;
  }
  view.quote(`a v1 service that asks the guard first is told, ${error.code}`, error.message);
}
