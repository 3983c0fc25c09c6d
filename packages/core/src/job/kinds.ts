declare const KINDS: unique symbol;

/**
 * Tells the compiler how objects of two job maps go together: what takes one without a map takes any, and
 * one of fewer kinds does not pass for one of more. The property is never there at run time.
 */
export interface Kinds<M> {
  readonly [KINDS]: { readonly [N in keyof M]: M[N] };
}

/** Base of classes whose type tells its job map. */
export const WithKinds: new <M>() => Kinds<M> = class {} as never;
