/** What the boot fence read at one v1 prefix. */
export interface V1Probe {
  readonly prefix: string;
  /** Whether the queue's name stands between braces there. */
  readonly braced: boolean;
  /** `<prefix>:<queue>:meta`. */
  readonly metaKey: string;
  readonly meta:
    | { readonly kind: "none" }
    | { readonly kind: "hash"; readonly version: string | null }
    | { readonly kind: "string"; readonly text: string }
    | { readonly kind: "other"; readonly type: string };
  /** Which of `:id :wait :delayed :completed :stalled-check` exist, as full keys. */
  readonly bare: readonly string[];
}

/** What the boot fence read before the first command on a queue. */
export interface FenceProbes {
  readonly queue: string;
  /** Text at `{emq}:version`. */
  readonly reserveVersion: string | null;
  /** What stands at `emq:{q}:meta`. */
  readonly stamp:
    | { readonly kind: "none" }
    | { readonly kind: "string"; readonly text: string }
    | { readonly kind: "hash"; readonly version: string | null }
    | { readonly kind: "other"; readonly type: string };
  /** What stands at `emq:{q}:v2:meta`. */
  readonly v2Meta: "none" | "hash" | "other";
  /** Field `opened` of `v2:meta`. */
  readonly opened: string | null;
  /** The journal at `{emq}:migration:<q>`; a phase at rest counts as none. */
  readonly migration: { readonly run: string; readonly phase: string } | null;
  readonly v1: readonly V1Probe[];
}
