/** Name of the tracer and the meter. */
export const SCOPE = "@echomq/core";
