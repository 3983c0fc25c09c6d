import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  sharedServer,
  startProxy,
  startServer,
  type TcpProxy,
  uniqueQueue,
} from "../../src/index.js";

/** A bare socket that speaks inline commands and remembers what it was sent and how it ended. */
class Raw {
  readonly socket: Socket;
  text = "";
  ended: "no" | "end" | "reset" = "no";

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setEncoding("utf8");
    this.socket.on("data", (chunk) => {
      this.text += chunk;
    });
    this.socket.on("end", () => {
      if (this.ended === "no") this.ended = "end";
    });
    this.socket.on("error", (error: NodeJS.ErrnoException) => {
      this.ended = error.code === "ECONNRESET" ? "reset" : this.ended;
    });
  }

  /** Sends a line and waits until the answer ends with `answer`. */
  async ask(line: string, answer: string): Promise<void> {
    this.text = "";
    this.socket.write(`${line}\r\n`);
    await expect.poll(() => this.text).toBe(answer);
  }
}

const PONG = "+PONG\r\n";
let port: number;
let proxy: TcpProxy;
let open: Raw[] = [];

/** A connection that is known to work. */
async function through(to: number = proxy.port): Promise<Raw> {
  const raw = new Raw(to);
  open.push(raw);
  await raw.ask("PING", PONG);
  return raw;
}

beforeAll(async () => {
  port = Number(new URL((await sharedServer("redis")).url).port);
});

beforeEach(async () => {
  proxy = await startProxy({ port });
});

afterEach(async () => {
  await proxy.close();
  for (const { socket } of open) socket.destroy();
  open = [];
});

describe("a proxy", () => {
  test("forwards, and counts connections and bytes", async () => {
    const [a, b] = [await through(), await through()];
    await a.ask("ECHO hello", "$5\r\nhello\r\n");
    expect(proxy.connections).toBe(2);
    expect(proxy.accepted).toBe(2);
    expect(proxy.bytes).toEqual({ up: 2 * 6 + 12, down: 2 * 7 + 11 });
    expect(proxy.url).toBe(`redis://127.0.0.1:${proxy.port}`);
    b.socket.end();
    await expect.poll(() => proxy.connections).toBe(1);
    expect(b.ended).toBe("end");
    expect(proxy.accepted).toBe(2);
  });

  test("cuts every connection by reset or in order, and takes new ones", async () => {
    const [a, b] = [await through(), await through()];
    proxy.cut();
    await expect.poll(() => [a.ended, b.ended]).toEqual(["reset", "reset"]);
    const c = await through();
    proxy.cut("close");
    await expect.poll(() => c.ended).toBe("end");
    await expect.poll(() => proxy.connections).toBe(0);
    await through();
  });

  test("half open keeps what clients send until it passes again", async () => {
    const key = uniqueQueue();
    const [a, direct] = [await through(), await through(port)];
    proxy.halfOpen("up");
    a.text = "";
    a.socket.write(`SET ${key} late\r\n`);
    const b = new Raw(proxy.port);
    open.push(b);
    await once(b.socket, "connect");
    b.socket.write("PING\r\n");
    await expect.poll(() => proxy.connections).toBe(2);
    await direct.ask(`EXISTS ${key}`, ":0\r\n");
    expect([a.text, b.text, a.ended, b.ended]).toEqual(["", "", "no", "no"]);
    proxy.pass();
    await expect.poll(() => [a.text, b.text]).toEqual(["+OK\r\n", PONG]);
    await direct.ask(`GET ${key}`, "$4\r\nlate\r\n");
    await direct.ask(`DEL ${key}`, ":1\r\n");
  });

  test("half open towards the client: commands run, answers stay away", async () => {
    const key = uniqueQueue();
    const [a, direct] = [await through(), await through(port)];
    proxy.halfOpen("down");
    const { up, down } = { ...proxy.bytes };
    a.text = "";
    a.socket.write(`INCR ${key}\r\n`);
    await expect.poll(() => proxy.bytes.up).toBe(up + key.length + 7);
    await direct.ask(`GET ${key}`, "$1\r\n1\r\n");
    expect(a.text).toBe("");
    expect(proxy.bytes.down).toBe(down);
    proxy.pass();
    await expect.poll(() => a.text).toBe(":1\r\n");
    await direct.ask(`DEL ${key}`, ":1\r\n");
  });

  test("half open hides the end of one side from the other", async () => {
    const [a, b] = [await through(), await through()];
    proxy.halfOpen();
    a.socket.end();
    b.socket.resetAndDestroy();
    const c = new Raw(proxy.port);
    open.push(c);
    await once(c.socket, "connect");
    await expect.poll(() => proxy.connections).toBe(3);
    proxy.pass();
    await expect.poll(() => proxy.connections).toBe(1);
    await c.ask("PING", PONG);
  });

  test("delays each way, in order, and lets go what waits when it passes again", async () => {
    const a = await through();
    proxy.delay(20);
    a.text = "";
    a.socket.write("ECHO a\r\n");
    a.socket.write("ECHO b\r\n");
    await expect.poll(() => a.text).toBe("$1\r\na\r\n$1\r\nb\r\n");
    for (const way of ["up", "down"] as const) {
      const { up, down } = { ...proxy.bytes };
      proxy.delay(600_000, way);
      a.text = "";
      a.socket.write("PING\r\n");
      // Another connection made after it has had its answer: the first still waits.
      if (way === "down") await expect.poll(() => proxy.bytes.up).toBe(up + 6);
      await through(port);
      expect(a.text).toBe("");
      expect(proxy.bytes.down).toBe(down);
      proxy.pass();
      await expect.poll(() => a.text).toBe(PONG);
    }
  });

  test("drops the next replies, then cuts only who lost one", async () => {
    const key = uniqueQueue();
    const [a, b, direct] = [await through(), await through(), await through(port)];
    const dropped = proxy.dropReplies(2);
    a.text = "";
    a.socket.write(`INCR ${key}\r\n`);
    await expect.poll(async () => read(direct, key)).toBe("1");
    expect(a.ended).toBe("no");
    a.socket.write(`INCR ${key}\r\n`);
    await dropped;
    await expect.poll(() => a.ended).toBe("reset");
    expect(a.text).toBe("");
    expect(await read(direct, key)).toBe("2");
    await b.ask("PING", PONG);
    await through();
    await direct.ask(`DEL ${key}`, ":1\r\n");
  });

  test("drops the reply a filter picks by what was asked", async () => {
    const [a, b] = [await through(), await through()];
    const dropped = proxy.dropReplies((reply, request) => {
      return reply.toString().startsWith("$") && request.toString().includes("lost");
    });
    await a.ask("ECHO kept", "$4\r\nkept\r\n");
    await b.ask("PING", PONG);
    a.socket.write("ECHO lost\r\n");
    await dropped;
    await expect.poll(() => a.ended).toBe("reset");
    await b.ask("ECHO lost", "$4\r\nlost\r\n");
  });

  test("a server that is gone resets the client", async () => {
    await using dead = await startProxy({ port: 1 });
    const raw = new Raw(dead.port);
    open.push(raw);
    await expect.poll(() => raw.ended).toBe("reset");
    expect(dead.connections).toBe(0);
  });

  test("led elsewhere, it takes new connections there and keeps the open ones", async () => {
    const own = await startServer();
    try {
      const key = uniqueQueue();
      const before = await through();
      proxy.retarget({ port: own.port });
      const after = await through();
      await after.ask(`SET ${key} there`, "+OK\r\n");
      await before.ask(`EXISTS ${key}`, ":0\r\n");
      await after.ask(`EXISTS ${key}`, ":1\r\n");
    } finally {
      await own.stop();
    }
  });

  test("closed, it takes no more connections", async () => {
    const a = await through();
    await proxy.close();
    await proxy.close();
    await expect.poll(() => a.ended).toBe("end");
    const [error] = await once(connect(proxy.port, "127.0.0.1"), "error");
    expect((error as NodeJS.ErrnoException).code).toBe("ECONNREFUSED");
  });
});

async function read(direct: Raw, key: string): Promise<string | undefined> {
  direct.text = "";
  direct.socket.write(`GET ${key}\r\n`);
  await expect.poll(() => direct.text).toMatch(/^\$.*\r\n.*$/s);
  return direct.text.split("\r\n")[1];
}
