import { jobId } from "@echomq/wire";

/** Whether an id read from Redis can be named in a call. Another program may have put anything there. */
export function isJobId(text: string): boolean {
  try {
    jobId(text);
    return true;
  } catch {
    return false;
  }
}
