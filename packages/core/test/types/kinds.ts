import type { ConnectionOption } from "@echomq/core";

/** Whether two types are the same, for `true satisfies Same<A, B>`. */
export type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export interface Mail {
  readonly to: string;
}

export interface Receipt {
  readonly sent: boolean;
}

/** One map as a `type`, the same as an `interface`, and one with a single kind. */
export type Kinds = {
  mail: { data: Mail; result: Receipt };
  report: { data: null; result: number };
};
export interface KindsInterface {
  mail: { data: Mail; result: Receipt };
  report: { data: null; result: number };
}
export interface Single {
  mail: { data: Mail; result: Receipt };
}

export declare const connection: ConnectionOption;
