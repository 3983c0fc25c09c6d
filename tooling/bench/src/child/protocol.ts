import type { SideName, WorkerSpec } from "../sides/types.js";

/** What a child can be asked, with what it takes and what it answers. */
export interface Methods {
  /** Opens a worker and resolves once it claims. */
  openWorker: { params: WorkerSpec & { readonly side: SideName }; result: null };
  /** Counts completions from 0; tells at `total`, and on the way too when several children share it. */
  expect: { params: { readonly total: number; readonly shared: boolean }; result: null };
  /** Moments at which jobs started, by number, in microseconds of the machine's monotonic clock. */
  starts: { params: null; result: number[] };
  closeWorker: { params: null; result: null };
  openProducer: {
    params: { readonly side: SideName; readonly port: number; readonly queue: string };
    result: null;
  };
  /** Adds in lists of `size`, one after the other. */
  addBulk: { params: { readonly count: number; readonly size: number }; result: null };
  /** Adds one by one with so many in flight. */
  addFlights: { params: { readonly count: number; readonly flights: number }; result: null };
  /** Adds at a fixed rate without waiting for answers; resolves to the moments of the calls. */
  addPaced: { params: { readonly count: number; readonly gapMs: number }; result: number[] };
  closeProducer: { params: null; result: null };
}

export type Method = keyof Methods;

/** A call to a child. */
export interface Call<M extends Method = Method> {
  readonly id: number;
  readonly method: M;
  readonly params: Methods[M]["params"];
}

/** What a child sends: an answer, or news of its own accord. */
export type Told =
  | { readonly type: "answer"; readonly id: number; readonly result: unknown }
  | { readonly type: "refusal"; readonly id: number; readonly error: string }
  | { readonly type: "progress"; readonly count: number }
  | { readonly type: "trouble"; readonly error: string };
