/** One letter per transition in the event stream, and the event it means. */
export const EVENT_CODES = {
  w: "waiting",
  d: "delayed",
  a: "active",
  c: "completed",
  f: "failed",
  r: "retried",
  s: "stalled",
  x: "removed",
  u: "duplicated",
  p: "paused",
  q: "resumed",
  g: "progress",
  e: "custom",
} as const;

/** Letter of a transition. */
export type EventCode = keyof typeof EVENT_CODES;
/** Name of an event. */
export type EventName = (typeof EVENT_CODES)[EventCode];
