import { ValidationError } from "@echomq/wire";
import { messageOf, nameText, property, readable, refuse, shown } from "./check.js";

/** A schema of any library that follows the Standard Schema interface, version 1. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says of a value: the value to store, or what is wrong with the one given. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing a schema finds wrong. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A payload does not fit the schema of its job. */
export class SchemaError extends ValidationError {
  static {
    Object.defineProperty(this.prototype, "name", { value: "SchemaError" });
  }

  readonly issues: readonly SchemaIssue[];

  constructor(job: string, issues: readonly SchemaIssue[], option = "data") {
    const list = issues.slice(0, 10).map(lineOf);
    const more = issues.length > list.length ? `; and ${issues.length - list.length} more` : "";
    const reason = `does not fit the schema of ${shown(job)}: ${list.join("; ")}${more}`;
    super({ option, reason });
    this.issues = issues;
    jobs.set(this, job);
  }
}

/** The job each error is about, for {@link inside}. */
const jobs = new WeakMap<SchemaError, string>();

/** A refusal of one of several, told with its place: `jobs[17].opts.delay`. Any other error as it is. */
export function inside(place: string, error: unknown): unknown {
  if (!(error instanceof ValidationError)) return error;
  const option = `${place}.${error.option}`;
  const job = error instanceof SchemaError ? jobs.get(error) : undefined;
  if (job !== undefined) return new SchemaError(job, (error as SchemaError).issues, option);
  // One that says more than its reason is of a class of its own.
  if (error.name !== "ValidationError") return error;
  return new ValidationError({ option, reason: error.reason });
}

/** Schemas of a queue's jobs, by job name. */
export type Schemas = ReadonlyMap<string, StandardSchemaV1>;

/** @throws ValidationError `VALIDATION` naming the schema. */
export function checkSchemas(value: unknown): Schemas {
  const schemas = new Map<string, StandardSchemaV1>();
  if (value === undefined) return schemas;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refuse("schemas", `must be an object of schemas by job name, got ${shown(value)}`);
  }
  for (const name of readable("schemas", () => Object.keys(value))) {
    nameText("schemas", name);
    const schema = property("schemas", value, name);
    if (!readable(`schemas.${name}`, () => isSchema(schema))) {
      refuse(`schemas.${name}`, "must be a Standard Schema of version 1");
    }
    schemas.set(name, schema as StandardSchemaV1);
  }
  return schemas;
}

function isSchema(value: unknown): boolean {
  const some = (typeof value === "object" && value !== null) || typeof value === "function";
  const standard = some ? (value as Partial<StandardSchemaV1>)["~standard"] : undefined;
  return typeof standard?.validate === "function" && standard.version === 1;
}

/**
 * The value a schema gives for a payload; a promise only where the schema is asynchronous.
 * @throws SchemaError `VALIDATION` with what the schema found wrong, also where it throws.
 */
export function validate(schema: StandardSchemaV1, job: string, data: unknown): unknown {
  let result: unknown;
  try {
    result = schema["~standard"].validate(data);
  } catch (thrown) {
    throw thrownBy(job, thrown);
  }
  if (!isPromise(result)) return outputOf(job, result);
  return result.then(
    (settled) => outputOf(job, settled),
    (thrown: unknown) => {
      throw thrownBy(job, thrown);
    },
  );
}

/** True for anything to wait for. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

function outputOf(job: string, result: unknown): unknown {
  const { issues, value } = (result ?? {}) as { issues?: unknown; value?: unknown };
  if (issues === undefined || issues === null) return value;
  throw new SchemaError(job, Array.isArray(issues) ? issues : [{ message: "no reason given" }]);
}

function thrownBy(job: string, thrown: unknown): SchemaError {
  return new SchemaError(job, [{ message: `the schema threw: ${messageOf(thrown)}` }]);
}

function lineOf({ message, path }: SchemaIssue): string {
  const at = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return at.length === 0 ? message : `${at.join(".")}: ${message}`;
}
