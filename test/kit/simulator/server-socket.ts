// A WebSocket as an object holds it. Made with its connection (connection.ts), accepted by object-context.ts.
import { deserialize, serialize } from "node:v8";

import type { Connection } from "./connection.ts";

/** The platform's limit of the attachment of one WebSocket. */
const ATTACHMENT_BYTES_MAX = 16 * 1024;

export class ServerSocket {
  readonly connection: Connection;
  tags: readonly string[] = [];
  #attachment: Uint8Array | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  get readyState(): number {
    const { isOver, isClosing } = this.connection;
    return isOver ? 3 : isClosing ? 2 : 1;
  }

  send(frame: string | ArrayBuffer | ArrayBufferView): void {
    const { connection } = this;
    if (connection.isClosing) throw new Error("the socket is closing");
    const sent = typeof frame === "string" ? frame : bytesOf(frame);
    connection.openHost?.say(() => connection.toClient(sent), { connection, frame: sent });
  }

  close(code = 1005, reason = ""): void {
    const { connection } = this;
    if (connection.isClosing) return;
    connection.isClosing = true;
    connection.openHost?.say(() => connection.closeFromServer(code, reason));
  }

  serializeAttachment(value: unknown): void {
    const attachment = serialize(value);
    if (attachment.byteLength > ATTACHMENT_BYTES_MAX)
      throw new Error(`an attachment of ${attachment.byteLength} bytes`);
    this.#attachment = attachment;
  }

  deserializeAttachment(): unknown {
    return this.#attachment ? deserialize(this.#attachment) : null;
  }
}

/** A copy, because the object may go on writing into its own. */
function bytesOf(frame: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (frame instanceof ArrayBuffer) return new Uint8Array(frame.slice());
  return new Uint8Array(frame.buffer, frame.byteOffset, frame.byteLength).slice();
}
