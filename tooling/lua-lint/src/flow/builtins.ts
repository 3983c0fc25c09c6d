import type { Node } from "../ast.js";
import { lineOf } from "../ast.js";
import type { State } from "./state.js";
import type { Multi, Value } from "./value.js";
import { builtin, everyValue, nothing, nth, one, other, union } from "./value.js";

/** Name of a builtin that another rule has already refused; its result is followed no further. */
export const REFUSED = "?";

/** What a function of Lua's library may return. */
export function callBuiltin(state: State, name: string, args: Multi, node: Node): Multi {
  switch (name) {
    case "unpack":
    case "table.unpack":
      return unpack(state, args);
    case "table.insert":
      return insert(state, args, node);
    case "table.remove":
      for (const made of nth(args, 0).tables) state.smear(made, node);
      return one(elementsOf(state, nth(args, 0), node));
    case "table.sort": {
      const elements = elementsOf(state, nth(args, 0), node);
      for (const made of nth(args, 0).tables) state.smear(made, node);
      for (const fn of nth(args, 1).fns) state.apply(fn, { list: [], rest: elements }, node);
      return { list: [], rest: nothing() };
    }
    default: {
      const result =
        name === REFUSED
          ? builtin(REFUSED)
          : other(`the result of ${name} in line ${lineOf(node)}`);
      if (name === REFUSED) state.escape(everyValue(args), node);
      // `string.gsub` calls a function with pieces of the text.
      for (const fn of everyValue(args).fns) state.apply(fn, { list: [], rest: result }, node);
      return { list: [], rest: result };
    }
  }
}

/** What any element of a value may be. */
export function elementsOf(state: State, value: Value, node: Node): Value {
  const found = union(...[...value.tables].map((made) => state.elements(made)));
  if (value.other === null && value.keys.size === 0) return found;
  return union(found, other(`an element of ${value.other ?? "a key"} in line ${lineOf(node)}`));
}

function unpack(state: State, args: Multi): Multi {
  const from = nth(args, 0);
  const unknown = from.other === null ? nothing() : other(from.other);
  const all = [...from.tables];
  const rest = union(unknown, ...all.map((made) => state.elements(made)));
  const whole = args.list.length === 1;
  if (!whole || all.length === 0 || all.includes(state.keysTable)) return { list: [], rest };
  const last = Math.max(0, ...all.flatMap((made) => [...made.at.keys()].filter(isPosition)));
  const list = Array.from({ length: last }, (_, index) =>
    union(unknown, ...all.map((made) => state.read(made, index + 1))),
  );
  return { list, rest: union(unknown, ...all.map((made) => made.any)) };
}

function isPosition(index: number | string): index is number {
  return typeof index === "number" && Number.isInteger(index) && index > 0;
}

function insert(state: State, args: Multi, node: Node): Multi {
  const into = nth(args, 0);
  // With a position the value is the third argument; the position itself is a number, never stored.
  const stored = union(...args.list.slice(args.list.length > 2 ? 2 : 1), args.rest);
  for (const made of into.tables) {
    state.smear(made, node);
    state.write(made, undefined, stored, node);
  }
  if (into.other !== null) state.escape(stored, node);
  return { list: [], rest: nothing() };
}
