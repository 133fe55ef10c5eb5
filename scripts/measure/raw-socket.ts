// A WebSocket client that does as little as a load test can do with: text frames, pongs, closings. A general client takes half as long
// again for a frame, and one core has to take 250,000 deliveries a second. Called by light-member.ts. Source: RFC 6455.
import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectTls } from "node:tls";

export interface Listener {
  /** One text frame: bytes[start..end), valid during the call only. */
  received(bytes: Buffer, start: number, end: number): void;
  /** It is over; called once. */
  closed(reason: string): void;
}

const HEADERS_END = "\r\n\r\n";
const HEADERS_BYTES_MAX = 16_384;
const [TEXT, CLOSE, PING, PONG] = [0x1, 0x8, 0x9, 0xa];
const FINAL = 0x80;
const MASKED = 0x80;
const OPCODE = 0x0f;
const LENGTH = 0x7f;
const [LENGTH_16, LENGTH_64] = [126, 127];
const MASK_BYTES = 4;

/** One buffer for all sockets: each read is processed before the next one. */
const readBuffer = Buffer.allocUnsafeSlow(256 * 1024);

export class RawSocket {
  readonly #socket: Socket;
  readonly #listener: Listener;
  readonly #isSecure: boolean;
  #isOpen = false;
  #isOver = false;
  /** The first part of a frame whose rest has not arrived. */
  #rest: Buffer | undefined;

  /** @param url of the endpoint, http or https, with its query */
  constructor(url: URL, listener: Listener) {
    this.#listener = listener;
    this.#isSecure = url.protocol === "https:";
    const port = Number(url.port) || (this.#isSecure ? 443 : 80);
    const options = { host: url.hostname, port, noDelay: true };
    this.#socket = this.#isSecure ? this.#connectSecurely(options) : this.#connectPlainly(options);
    this.#socket.once(this.#isSecure ? "secureConnect" : "connect", () => this.#socket.write(upgradeRequest(url)));
    this.#socket.once("error", (error) => this.#end(error.message));
    this.#socket.once("close", () => this.#end("the connection was closed"));
  }

  #connectPlainly(options: TcpNetConnectOpts): Socket {
    const callback = (bytes: number): boolean => (this.#read(readBuffer, bytes), true);
    return connect({ ...options, onread: { buffer: readBuffer, callback } });
  }

  #connectSecurely(options: TcpNetConnectOpts): Socket {
    const socket = connectTls({ ...options, servername: options.host! });
    return socket.on("data", (bytes: Buffer) => this.#read(bytes, bytes.length));
  }

  /** @param text ASCII */
  send(text: string): void {
    this.#sendFrame(TEXT, Buffer.from(text, "latin1"));
  }

  /** Goes without a word, as a broken line does. */
  drop(): void {
    this.#isOver = true;
    // A line over TLS has no reset of its own.
    if (this.#isSecure) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  #sendFrame(opcode: number, payload: Buffer): void {
    const isLong = payload.length >= LENGTH_16;
    const header = Buffer.alloc(2 + (isLong ? 2 : 0) + MASK_BYTES);
    header[0] = FINAL | opcode;
    header[1] = MASKED | (isLong ? LENGTH_16 : payload.length);
    if (isLong) header.writeUInt16BE(payload.length, 2);
    // Masked with zeros: the server unmasks with the mask in the frame.
    this.#socket.write(Buffer.concat([header, payload]));
  }

  #read(chunk: Buffer, length: number): void {
    if (this.#isOver) return;
    const rest = this.#rest;
    const bytes = rest ? Buffer.concat([rest, chunk.subarray(0, length)]) : chunk;
    const end = rest ? bytes.length : length;
    const at = this.#isOpen ? this.#readFrames(bytes, 0, end) : this.#readAnswer(bytes, end);
    this.#rest = at < end ? Buffer.from(bytes.subarray(at, end)) : undefined;
  }

  #readAnswer(bytes: Buffer, end: number): number {
    const answer = bytes.toString("latin1", 0, Math.min(end, HEADERS_BYTES_MAX));
    const headersEnd = answer.indexOf(HEADERS_END);
    if (headersEnd === -1) return 0;
    if (!answer.startsWith("HTTP/1.1 101")) {
      this.#end(`the upgrade was refused: ${answer.slice(0, 200)}`);
      this.#socket.destroy();
      return end;
    }
    this.#isOpen = true;
    return this.#readFrames(bytes, headersEnd + HEADERS_END.length, end);
  }

  /** @returns where the first frame begins that is not there to its end */
  #readFrames(bytes: Buffer, from: number, end: number): number {
    let at = from;
    while (end - at >= 2 && !this.#isOver) {
      let length = bytes[at + 1]! & LENGTH;
      let start = at + 2;
      if (length === LENGTH_16) {
        if (end - start < 2) break;
        length = bytes.readUInt16BE(start);
        start += 2;
      } else if (length === LENGTH_64) {
        if (end - start < 8) break;
        length = Number(bytes.readBigUInt64BE(start));
        start += 8;
      }
      if (end - start < length) break;
      this.#dispatch(bytes[at]!, bytes, start, start + length);
      at = start + length;
    }
    return at;
  }

  #dispatch(first: number, bytes: Buffer, start: number, end: number): void {
    const opcode = first & OPCODE;
    if (opcode === TEXT && first & FINAL) return this.#listener.received(bytes, start, end);
    if (opcode === PING) return this.#sendFrame(PONG, Buffer.from(bytes.subarray(start, end)));
    if (opcode === PONG) return;
    const code = opcode === CLOSE && end - start >= 2 ? bytes.readUInt16BE(start) : "unknown";
    this.#end(
      opcode === CLOSE
        ? `closed by the server: ${code} ${bytes.toString("utf8", start + 2, end)}`
        : `an unexpected frame (${first})`,
    );
    this.#socket.destroy();
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.closed(reason);
  }
}

function upgradeRequest({ pathname, search, host }: URL): string {
  return [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    // Any 16 bytes will do: no cache sits between two processes of one machine.
    "Sec-WebSocket-Key: cGFybGV5LWJlbmNoLWtleQ==",
    "\r\n",
  ].join("\r\n");
}
