/**
 * A v1 client in a process of its own, driven by messages. Started by `V1Client`.
 * Message: `{ seq, ask, ... }`; answer: `{ seq, ... }`.
 */
import { Client, load } from "./client.mjs";
import { make } from "./make.mjs";
import { surface } from "./surface.mjs";
import { VERBS } from "./verbs.mjs";

const [alias = "", port = "", careful = ""] = process.argv.slice(2);

/** Most a verb may take; the few that wait for more by design answer `pending`. */
const VERB_MS = 1_500;

const seen = { worked: 0, heard: 0, errors: 0, unhandled: 0, messages: new Set() };

function note(what, error) {
  if (what !== "error") {
    seen[what] += 1;
    return;
  }
  seen.errors += 1;
  if (seen.messages.size < 20) seen.messages.add(said(error));
}

// A careful program survives; one that is not shows how a line ends its own process.
if (careful === "careful") {
  process.on("unhandledRejection", (error) => {
    seen.unhandled += 1;
    note("error", error);
  });
}

const M = await load(alias);
let client;

const ASKS = {
  surface: () => surface(M, alias),
  make: async ({ by, ...where }) => {
    const own = new Client(M, { ...where, port: Number(port) }, note);
    try {
      await make(own, by);
    } finally {
      await own.close();
    }
  },
  open: async (where) => {
    await client?.close();
    client = new Client(M, { ...where, port: Number(port) }, note);
    if (where.ready) await client.ready();
  },
  ids: ({ ids }) => {
    client.ids = ids;
  },
  verb: async ({ name }) => {
    const before = { ...seen };
    seen.messages.clear();
    const outcome = await outcomeOf(() => VERBS[name](client));
    return {
      ...outcome,
      worked: seen.worked - before.worked,
      heard: seen.heard - before.heard,
      errors: seen.errors - before.errors,
      messages: [...seen.messages],
    };
  },
  script: async ({ body }) => new Function("c", `return (async () => { ${body} })()`)(client),
  close: async () => {
    await client?.close();
    client = undefined;
  },
};

async function outcomeOf(work) {
  const late = new Promise((resolve) => {
    setTimeout(() => resolve({ end: "pending" }), VERB_MS).unref();
  });
  const done = (async () => {
    try {
      return { end: "returned", value: shown(await work()) };
    } catch (error) {
      return { end: "threw", error: said(error) };
    }
  })();
  return Promise.race([done, late]);
}

function said(error) {
  return error instanceof Error ? error.message : String(error);
}

/** A value as a short text: enough to see what was handed out. */
function shown(value) {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 300);
  } catch {
    return String(value);
  }
}

process.on("message", async ({ seq, ask, ...rest }) => {
  try {
    process.send({ seq, ok: true, value: await ASKS[ask](rest) });
  } catch (error) {
    process.send({ seq, ok: false, error: said(error) });
  }
});
process.on("disconnect", () => process.exit(0));
process.send({ seq: 0, ok: true });
