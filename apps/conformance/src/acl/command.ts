import { V1_PREFIXES } from "@echomq/scripts";
import { queueName } from "@echomq/wire";
import { Command, CommanderError, Option } from "commander";
import { Misused } from "../outcome.js";
import { type LineOptions, SERVERS, type ServerVersion, userRules } from "./line.js";
import { rightsOf } from "./rights.js";
import { EXTRA_SPECS, EXTRAS, type Extra, ROLES, type Role } from "./roles.js";

interface Given {
  readonly queue: string;
  readonly role: Role;
  readonly with?: readonly Extra[];
  readonly other?: readonly string[];
  readonly user?: string;
  readonly v1Prefix?: readonly string[];
  readonly v1Queue?: string;
  readonly server: ServerVersion;
  readonly cluster?: boolean;
  readonly database?: boolean;
  readonly aclfile?: boolean;
  readonly json?: boolean;
}

const EXTRA_HELP: Readonly<Record<Extra, string>> = {
  events: "reads events, waits for the end of jobs",
  publish: "writes events of its own",
  doctor: "inspects and mends the queue",
  handlers: "writes data, progress and log of jobs",
  cancel: "cancels jobs",
  limits: "sets and tells concurrency, rate and length",
  dedup: "tells and frees deduplication records",
  jobs: "removes, retries, promotes and changes jobs; cleans, drains, obliterates",
  letters: "delivers dead letters to --other",
  redrive: "brings dead letters back to --other",
};
const EXTRAS_HELP: string = EXTRAS.map((one) => `  ${one.padEnd(9)} ${EXTRA_HELP[one]}`).join("\n");

/**
 * The `acl` command: the text to print, which is empty where help was asked for and is written.
 * @throws Misused with one sentence that says what is wrong.
 */
export function aclCommand(argv: readonly string[]): string {
  const given = parse(argv);
  if (given === null) return "";
  const q = checkedName("--queue", given.queue);
  const others = (given.other ?? []).map((name) => checkedName("--other", name));
  const { role, server, v1Queue, v1Prefix: prefixes = V1_PREFIXES, with: extras = [] } = given;
  if (role === "migrator" && extras.length > 0) {
    throw new Misused("--with: a migrator takes nothing besides");
  }
  const crossing = extras.find((extra) => EXTRA_SPECS[extra].others !== undefined);
  if (crossing !== undefined && others.length === 0) {
    throw new Misused(`--other: ${crossing} needs the names of the other queues`);
  }
  if (crossing === undefined && others.length > 0) {
    throw new Misused("--other: only letters and redrive take it");
  }
  for (const prefix of prefixes) checkText("--v1-prefix", prefix);
  if (v1Queue !== undefined) {
    if (role !== "migrator") throw new Misused("--v1-queue: only a migrator takes it");
    checkText("--v1-queue", v1Queue);
  }
  const user = given.user ?? `emq-${q.replaceAll(/[^\w.-]/g, "_")}-${role}`;
  if (!/^[!#-&(-~]+$/.test(user)) {
    throw new Misused("--user: must be printable ASCII without spaces and quotes");
  }
  const name = v1Queue === undefined ? {} : { v1Queue };
  const rights = rightsOf({ role, extras, q, others, prefixes, ...name });
  const options: LineOptions = {
    server,
    cluster: given.cluster ?? false,
    database: given.database ?? false,
  };
  const rules = userRules(rights, options);
  if (!given.json) {
    return `${given.aclfile ? "user" : "ACL SETUSER"} ${user} ${rules.join(" ")}\n`;
  }
  const { commands, keys, declared } = rights;
  const report = { user, role, with: extras, queue: q, others, ...options, rules, commands };
  return `${JSON.stringify({ ...report, keys: Object.fromEntries(keys), declared }, null, 2)}\n`;
}

function parse(argv: readonly string[]): Given | null {
  let said = "";
  const program = new Command("conformance acl")
    .description("Prints the line that makes a server user with the rights of a role, and no more.")
    .requiredOption("--queue <name>", "the queue")
    .addOption(new Option("--role <role>", "what it does").choices(ROLES).makeOptionMandatory())
    .addOption(new Option("--with <extra...>", "what it does besides").choices(EXTRAS))
    .option("--other <queue...>", "queues that dead letters go to (letters) or back to (redrive)")
    .option("--user <name>", "name of the user (default: emq-<queue>-<role>)")
    .option("--v1-prefix <prefix...>", `v1 prefixes (default: ${V1_PREFIXES.join(" ")})`)
    .option("--v1-queue <name>", "v1's name of a queue that is migrated under another one")
    .addOption(
      new Option("--server <version>", "oldest server it must work on")
        .choices(SERVERS)
        .default("7.0"),
    )
    .option("--cluster", "with what a cluster client asks")
    .option("--database", "with the right to choose a database other than 0")
    .option("--aclfile", "as a line of an aclfile instead of a command")
    .option("--json", "write the rules, commands and keys as one JSON document")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeErr: (text) => {
        said = text;
      },
    })
    .addHelpText(
      "after",
      `\nBesides:\n${EXTRAS_HELP}\n\nPut the user's password in the place of PASSWORD.`,
    );
  try {
    program.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return null;
    throw new Misused(said.trim().replace(/^error: /, "") || error.message);
  }
  return program.opts<Given>();
}

function checkedName(option: string, name: string): string {
  try {
    return queueName(name, option);
  } catch (error) {
    throw new Misused(error instanceof Error ? error.message : String(error));
  }
}

function checkText(option: string, text: string): void {
  const control = [...text].some((char) => char < " " || char === "\u007f");
  if (text === "" || control)
    throw new Misused(`${option}: must be a text without control characters`);
}
