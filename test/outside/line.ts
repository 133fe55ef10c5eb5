// A TCP proxy between a client and a server, whose connections a test cuts and mends. Called by the outside tests.
import { connect as dial, createServer, type Server as TcpServer, type Socket as TcpSocket } from "node:net";

import { freePort, HOST } from "./servers.ts";

const lines = new Set<Line>();

/** Called by lines.setup.ts after the last test of a file. */
export function closeLines(): void {
  for (const line of lines) line.close();
  lines.clear();
}

/** A line to the server that can be cut, with or without its ends noticing. */
export class Line {
  url = "";
  /** As some company networks do. */
  blocksWebSockets = false;
  readonly #server: TcpServer;
  readonly #pairs = new Set<readonly [TcpSocket, TcpSocket]>();
  #isDead = false;

  constructor(port: number) {
    this.#server = createServer((near) => {
      if (this.#isDead) return void near.destroy();
      near.once("data", (head) => {
        if (this.blocksWebSockets && /^upgrade: websocket/im.test(String(head))) near.destroy();
      });
      const far = dial(port, HOST);
      const pair = [near, far] as const;
      this.#pairs.add(pair);
      for (const [from, to] of [pair, [far, near] as const]) {
        from.pipe(to);
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
    });
    lines.add(this);
  }

  async open(): Promise<this> {
    const port = await freePort();
    await new Promise<void>((resolve) => void this.#server.listen(port, HOST, resolve));
    this.url = `http://${HOST}:${port}`;
    return this;
  }

  /** Both ends get a close. */
  cut(): void {
    this.#isDead = true;
    for (const [near] of this.#pairs) near.destroy();
    this.#pairs.clear();
  }

  /** Only the client gets a close: the server believes that it is still connected. */
  cutSilently(): void {
    this.#isDead = true;
    for (const [near, far] of this.#pairs) {
      near.unpipe(far);
      far.unpipe(near);
      near.removeAllListeners("close");
      near.destroy();
      far.resume();
    }
  }

  mend(): void {
    this.#isDead = false;
  }

  close(): void {
    for (const [near, far] of this.#pairs) for (const end of [near, far]) end.destroy();
    this.#server.close();
  }
}
