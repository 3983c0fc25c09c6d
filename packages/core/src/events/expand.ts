import { EVENT_CODES, type EventCode, type EventName } from "@echomq/wire";
import type { Fields } from "../job/fields.js";
import { numberOf } from "../job/fields.js";
import { fromJson } from "../job/payload.js";

/** One event as it stands in an entry of the stream. */
export interface RawEvent {
  /** `<entry>:<index>`. */
  readonly eventId: string;
  readonly kind: EventName;
  /** Id of the job, or name of a custom event. */
  readonly id: string;
  readonly value: string;
  /** The value was too large and stands in the job's hash. */
  readonly referred: boolean;
}

/** An event ready to be told. */
export interface ToldEvent {
  readonly eventId: string;
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Field of the job's hash that holds a referred value. */
const FIELD: Partial<Record<EventName, string>> = {
  completed: "returnvalue",
  failed: "failedReason",
  retried: "failedReason",
  progress: "progress",
  waiting: "name",
};

/**
 * The events of one entry behind `from`, in order. A code of a newer minor version is passed over, its
 * place counted.
 */
export function expand(entry: string, pairs: readonly string[], from = 0): RawEvent[] {
  const events: RawEvent[] = [];
  for (let index = from; index * 2 + 1 < pairs.length; index += 1) {
    const key = pairs[index * 2] ?? "";
    const value = pairs[index * 2 + 1] ?? "";
    const letter = key.charAt(0);
    const code = letter.toLowerCase();
    if (!Object.hasOwn(EVENT_CODES, code)) continue;
    const kind = EVENT_CODES[code as EventCode];
    const eventId = `${entry}:${index}`;
    events.push({ eventId, kind, id: key.slice(1), value, referred: letter !== code });
  }
  return events;
}

/** The event with its payload; `fields` are those of the job of a referred value, if it still stands. */
export function told(event: RawEvent, fields?: Fields): ToldEvent {
  const { eventId, kind, id } = event;
  if (kind === "custom") return { eventId, name: id, payload: objectOf(event.value) };
  const value = event.referred ? fields?.[FIELD[kind] ?? ""] : event.value;
  if (kind === "duplicated" && value) {
    const [deduplicationId = "", deduplicatedJobId = ""] = value.split("\n");
    const payload = { jobId: id, deduplicationId, deduplicatedJobId };
    return { eventId, name: "deduplicated", payload };
  }
  return { eventId, name: kind, payload: payloadOf(kind, id, value) };
}

function payloadOf(
  kind: EventName,
  jobId: string,
  value: string | undefined,
): Readonly<Record<string, unknown>> {
  const some = value !== undefined && value !== "";
  switch (kind) {
    case "paused":
    case "resumed":
      return {};
    case "removed":
      return some ? { jobId, prev: value } : { jobId };
    case "waiting":
      return some ? { jobId, name: value } : { jobId };
    case "delayed":
      return { jobId, delay: numberOf(value, 0) };
    case "completed":
      return some ? { jobId, returnvalue: fromJson(value) } : { jobId };
    case "failed":
    case "retried":
      return value === undefined ? { jobId } : { jobId, failedReason: value };
    case "progress":
      return some ? { jobId, data: fromJson(value) } : { jobId };
    default:
      return { jobId };
  }
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  const value = fromJson(text);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
