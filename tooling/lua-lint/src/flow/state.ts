import type { Call, FunctionDeclaration, Node } from "../ast.js";
import { lineOf } from "../ast.js";
import type { Report } from "../finding.js";
import type { Binding, Scopes } from "../scope.js";
import type { Fn, Multi, Table, Value } from "./value.js";
import { emptyTable, grow, key, nothing, nth, other, union } from "./value.js";

/** A call of the server as the analysis sees it. */
export interface RedisCall {
  readonly node: Call;
  readonly via: "call" | "pcall";
  /** Arguments, the command's name first. */
  readonly values: Multi;
}

/** What is known so far. One round over the script grows it; the last round reports. */
export class State {
  readonly scopes: Scopes;
  readonly keysTable: Table = emptyTable();
  readonly redisCalls: Map<Call, RedisCall> = new Map();
  readonly callees: Map<Node, Set<Fn>> = new Map();
  readonly fns: Map<FunctionDeclaration, Fn> = new Map();
  /** Calls that a run may reach; the others stand in functions nothing calls. */
  readonly live: Set<Call> = new Set();
  /** Whether functions that no call reaches are visited too. */
  everything = false;
  /** The function whose body is being visited; undefined in the main chunk. */
  current: Fn | undefined;
  changed = false;
  report: Report = () => undefined;
  private readonly variables = new Map<Binding, Value>();
  private readonly tables = new Map<Node, Table>();

  constructor(scopes: Scopes) {
    this.scopes = scopes;
  }

  /** What `...` stands for here; undefined in the main chunk. */
  get varargs(): Value | undefined {
    return this.current?.varargs;
  }

  variable(binding: Binding): Value {
    return getOrMake(this.variables, binding, nothing);
  }

  tableOf(node: Node): Table {
    return getOrMake(this.tables, node, emptyTable);
  }

  fnOf(node: FunctionDeclaration): Fn {
    return getOrMake(this.fns, node, () => ({
      node,
      parameters: node.parameters.flatMap((parameter) => {
        const binding = parameter.type === "Identifier" && this.scopes.get(parameter);
        return binding ? [binding] : [];
      }),
      varargs: nothing(),
      returns: { list: [], rest: nothing() },
      reached: false,
    }));
  }

  grow(into: Value, from: Value): void {
    if (grow(into, from)) this.changed = true;
  }

  /** One element of a table, or what any element may be when the index is computed. */
  read(from: Table, index: number | string | undefined): Value {
    if (from === this.keysTable) return key(typeof index === "number" ? String(index) : "*");
    if (index === undefined) return this.elements(from);
    return union(from.at.get(index) ?? nothing(), from.any);
  }

  elements(from: Table): Value {
    return from === this.keysTable ? key("*") : union(...from.at.values(), from.any);
  }

  write(into: Table, index: number | string | undefined, value: Value, node: Node): void {
    if (into === this.keysTable) {
      this.report("W1", lineOf(node), "KEYS is changed by the script");
      return;
    }
    this.grow(index === undefined ? into.any : getOrMake(into.at, index, nothing), value);
  }

  /** Forgets which element stood where, after an insert in the middle, a removal or a sort. */
  smear(into: Table, node: Node): void {
    this.write(into, undefined, into === this.keysTable ? nothing() : this.elements(into), node);
  }

  /** What is handed to a place that cannot be followed may be changed there. */
  escape(value: Value, node: Node, seen: Set<Table> = new Set()): void {
    for (const fn of value.fns) this.apply(fn, { list: [], rest: other("unknown") }, node);
    for (const escaped of value.tables) {
      if (seen.has(escaped)) continue;
      seen.add(escaped);
      if (escaped === this.keysTable) {
        this.report("W1", lineOf(node), "KEYS is handed to what cannot be followed");
        continue;
      }
      this.escape(this.elements(escaped), node, seen);
      this.grow(
        escaped.any,
        other(`an element of a table that left the lint's sight in line ${lineOf(node)}`),
      );
    }
  }

  /** Passes arguments to a function and gives what it may return; its body is visited by the round. */
  apply(fn: Fn, args: Multi, node: Node): Multi {
    const known = getOrMake(this.callees, node, () => new Set<Fn>());
    known.add(fn);
    if (!fn.reached) this.changed = true;
    fn.reached = true;
    fn.parameters.forEach((parameter, index) => {
      this.grow(this.variable(parameter), nth(args, index));
    });
    const extra = args.list.slice(fn.parameters.length);
    this.grow(fn.varargs, union(...extra, args.rest));
    return fn.returns;
  }
}

function getOrMake<K, V>(map: Map<K, V>, at: K, make: () => V): V {
  const found = map.get(at);
  if (found !== undefined) return found;
  const made = make();
  map.set(at, made);
  return made;
}
