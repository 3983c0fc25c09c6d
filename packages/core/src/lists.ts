/**
 * An empty list of text, of the kind that lists with text are: V8 throws compiled code away that meets another.
 * For the same reason what runs with every call pushes in loops: `map` makes lists of several kinds.
 */
export const NO_TEXTS: readonly string[] = ["x"].slice(1);
