// A WebSocket as its object has it: what is kept of it while the object sleeps, what is sent, and the closing.
import { closeLine } from "../../src/rpc/lines.ts";
import type { Frame } from "../../src/socketio/wire/engine-io.ts";
import type { SessionRecord } from "../../src/socketio/engine/session.ts";
import { withoutPartial } from "../../src/socketio/server/records.ts";

/** The attachment of a WebSocket that wants to take over from long-polling. */
export const PROBE = { isProbe: true } as const;

/** Of a connection that ended without a word (RFC 6455, section 7.4.1). */
export const CODE_OF_NONE = 1006;

/** @param line the TCP connection under it, where it is one that can be cut: the tag of the WebSocket, which survives sleep */
export function accept(ctx: DurableObjectState, ws: WebSocket, line: string | undefined): void {
  ctx.acceptWebSocket(ws, line === undefined ? [] : [line]);
}

/** @throws Error when the record is too large, or nothing that a structured clone carries */
export function attach(ws: WebSocket, record: SessionRecord): void {
  try {
    ws.serializeAttachment(record);
  } catch (error) {
    if (!("partial" in record)) throw error;
    ws.serializeAttachment(withoutPartial(record));
  }
}

/**
 * Closes a socket that has no session, or closes it from our side too: hibernating sockets are not closed by
 * themselves, and the peer waits for our half of the goodbye.
 */
export function finishClose(ctx: DurableObjectState, ws: WebSocket, code: number, reason: string): void {
  // LIM-6: it has a while to answer, and then its TCP connection goes, too.
  for (const line of ctx.getTags(ws)) closeLine(line);
  // Both mean that the peer has gone.
  if (code === CODE_OF_NONE || code === 1015) return;
  try {
    if (code === 1005) ws.close();
    else ws.close(code, reason);
  } catch {
    // It was closed already, or from the other side at the same moment.
  }
}

/** Nothing, where the session has no WebSocket any more. */
export function sendAll(ws: WebSocket | undefined, frames: readonly Frame[]): void {
  try {
    for (const frame of frames) ws?.send(frame);
  } catch {
    // It is closing; its closing event follows and cleans up.
  }
}
