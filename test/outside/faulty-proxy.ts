// A proxy between WebSocket clients and their server that changes frames of the server. Used by tests of programs that must notice it.
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** @returns the frames for the client in place of a text frame, in order */
export type Tamper = (text: string) => readonly string[];

const HEADERS_END = "\r\n\r\n";
const [FINAL_TEXT, LENGTH_16, LENGTH_64] = [0x81, 126, 127];

export interface FaultyProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * @param tamperer makes a `Tamper` for each connection
 * @param heard is called with each frame of a client, as it travels: a light user masks its frames with zeros, so that they are readable
 */
export async function startFaultyProxy(
  target: string,
  tamperer: () => Tamper,
  heard: (bytes: string) => void = () => undefined,
): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    const frames = new FrameReader(tamperer(), (bytes) => client.write(bytes));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    let isHead = true;
    client.on("data", (bytes) => {
      heard(bytes.toString("latin1"));
      upstream.write(isHead ? withoutExtensions(bytes) : bytes);
      isHead = false;
    });
    client.on("close", () => upstream.destroy());
    upstream.on("data", (bytes) => frames.read(bytes)).on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** Compressed frames cannot be changed. */
function withoutExtensions(head: Buffer): Buffer {
  return Buffer.from(head.toString("latin1").replace(/^Sec-WebSocket-Extensions:.*\r\n/im, ""), "latin1");
}

/** Answers to plain requests pass as they are; behind a 101 there are frames. */
class FrameReader {
  readonly #tamper: Tamper;
  readonly #write: (bytes: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);
  #isUpgraded: boolean | undefined;

  constructor(tamper: Tamper, write: (bytes: Buffer) => void) {
    this.#tamper = tamper;
    this.#write = write;
  }

  read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    if (this.#isUpgraded === undefined && !this.#readHead()) return;
    if (this.#isUpgraded) while (this.#readFrame());
    else this.#pass(this.#rest.length);
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf(HEADERS_END);
    if (end === -1) return false;
    this.#isUpgraded = this.#rest.toString("latin1", 0, 12) === "HTTP/1.1 101";
    if (this.#isUpgraded) this.#pass(end + HEADERS_END.length);
    return true;
  }

  #pass(length: number): void {
    this.#write(this.#rest.subarray(0, length));
    this.#rest = this.#rest.subarray(length);
  }

  /** @returns whether there was a whole one */
  #readFrame(): boolean {
    const rest = this.#rest;
    if (rest.length < 2) return false;
    let [start, length] = [2, rest[1]!];
    if (length === LENGTH_16 && rest.length >= 4) [start, length] = [4, rest.readUInt16BE(2)];
    else if (length === LENGTH_64 && rest.length >= 10) [start, length] = [10, Number(rest.readBigUInt64BE(2))];
    if (rest.length < start + length) return false;
    if (rest[0] !== FINAL_TEXT) this.#pass(start + length);
    else {
      const text = rest.toString("utf8", start, start + length);
      this.#rest = rest.subarray(start + length);
      for (const passed of this.#tamper(text)) this.#write(frameOf(passed));
    }
    return true;
  }
}

function frameOf(text: string): Buffer {
  const payload = Buffer.from(text);
  const isLong = payload.length >= LENGTH_16;
  const head = Buffer.alloc(isLong ? 4 : 2);
  head[0] = FINAL_TEXT;
  head[1] = isLong ? LENGTH_16 : payload.length;
  if (isLong) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
