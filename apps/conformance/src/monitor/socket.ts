import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { refusalOf } from "../connect/refusal.js";
import { Refused } from "../outcome.js";

/** A connection in monitor mode. */
export interface MonitorSocket {
  /** True until the server ended the stream. */
  readonly open: boolean;
  close(): void;
}

const CONNECT_MS = 5_000;
const DEFAULT_PORT = 6_379;

/**
 * Opens a raw connection and starts `MONITOR` on it; `onLine` gets each line as the server writes it.
 * @throws Refused where the server does not allow `MONITOR`, Error where it cannot be reached.
 */
export function openMonitor(url: string, onLine: (text: string) => void): Promise<MonitorSocket> {
  return new Promise((resolve, reject) => {
    const commands = opening(new URL(url));
    const socket = dial(new URL(url));
    let awaited = commands.length;
    let rest = "";
    let open = true;
    const fail = (error: Error): void => {
      open = false;
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(CONNECT_MS, () => fail(new Error("the monitor's connection timed out")));
    socket.setEncoding("latin1");
    socket.once("error", fail);
    socket.once("close", () => fail(new Error("the server closed the monitor's connection")));
    // The server answers in order, so all may be written at once.
    socket.write(commands.map(encode).join(""));
    socket.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (awaited === 0) {
          onLine(line.slice(1));
          continue;
        }
        if (line.startsWith("-")) {
          fail(refusal(line.slice(1)));
          return;
        }
        awaited -= 1;
        if (awaited > 0) continue;
        socket.setTimeout(0);
        resolve({
          get open() {
            return open;
          },
          close: () => {
            open = false;
            socket.destroy();
          },
        });
      }
    });
  });
}

function opening(url: URL): string[][] {
  const [user, password] = [url.username, url.password].map(decodeURIComponent);
  const auth = password ? [["AUTH", ...(user ? [user] : []), password]] : [];
  return [...auth, ["MONITOR"]];
}

function dial(url: URL): Socket {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1") || "localhost";
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  if (url.protocol !== "rediss:") return connectPlain({ host, port });
  return connectTls({ host, port });
}

function encode(command: readonly string[]): string {
  const args = command.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
  return `*${command.length}\r\n${args.join("")}`;
}

function refusal(text: string): Error {
  const error = new Error(text);
  return refusalOf(error) === null ? error : new Refused(`no right to MONITOR: ${text}`);
}
