import { connect } from "node:net";

/**
 * Asks a port whether the server with this process id answers there.
 * True also where the server wants a password: then the process id cannot be asked.
 */
export function answers(port: number, pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const finish = (ready: boolean): void => {
      socket.destroy();
      resolve(ready);
    };
    socket.setEncoding("utf8");
    socket.setTimeout(1000, () => finish(false));
    socket.once("error", () => finish(false));
    socket.once("close", () => finish(false));
    socket.once("connect", () => socket.write("PING\r\nINFO server\r\n"));
    socket.on("data", (chunk) => {
      text += chunk;
      if (/^-(NOAUTH|NOPERM|WRONGPASS)/.test(text)) return finish(true);
      if (text.startsWith("-")) return finish(false);
      const owner = /process_id:(\d+)/.exec(text);
      if (text.startsWith("+PONG") && owner) finish(Number(owner[1]) === pid);
    });
  });
}
