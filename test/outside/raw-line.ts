// A TCP connection that sends and reads exactly on command: for bytes that no client would send.
import { connect, type Socket } from "node:net";

import { PATIENCE_MS } from "../host/patience.ts";
import { HOST } from "./servers.ts";

/** A text frame with a mask of zeros (RFC 6455). */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const { length } = payload;
  const head = length < 126 ? [0x81, 0x80 | length] : [0x81, 0x80 | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}

export class RawLine {
  /** All that was read, in Latin-1. */
  heard = "";
  isOver = false;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => (this.heard += chunk.toString("latin1")));
    socket.on("error", () => (this.isOver = true));
    socket.on("close", () => (this.isOver = true));
    socket.on("end", () => (this.isOver = true));
  }

  static open(port: number): Promise<RawLine> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: HOST });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new RawLine(socket)));
    });
  }

  /** With the handshake of a WebSocket through. @param more lines of its head */
  static async openWebSocket(port: number, path: string, more = ""): Promise<RawLine> {
    const line = await RawLine.open(port);
    const headers = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    line.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}:${port}\r\n${headers}${key}${more}\r\n`);
    await line.until(() => line.heard.includes("\r\n\r\n"));
    return line;
  }

  write(bytes: string | Buffer): void {
    if (!this.isOver) this.#socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  stopReading(): void {
    this.#socket.pause();
  }

  readOn(): void {
    this.#socket.resume();
  }

  /** Waits until it holds, or the time is over. @returns whether it held */
  async until(holds: () => boolean, waitMs = PATIENCE_MS): Promise<boolean> {
    const endMs = Date.now() + waitMs;
    while (!holds() && Date.now() < endMs) await new Promise((resolve) => void setTimeout(resolve, 20));
    return holds();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Resets the connection (RST): after a mere FIN the peer may still answer. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }
}
