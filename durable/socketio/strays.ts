// WebSockets without a session: they came for one that has another already, or did not take over in time, and were closed. Until
// they are gone they hold what they have sent, so they count with those who have joined nothing (LIM-5). Called by socket-object.ts.
import { UnjoinedQuota } from "../../src/socketio/engine/unjoined-quota.ts";

/** LIM-5: all objects of an isolate share it, and what a stranger may hold adds up. */
export const UNJOINED = new UnjoinedQuota();

const ids = new WeakMap<WebSocket, string>();
let count = 0;

/** It was closed from this side. */
export function strayed(ws: WebSocket, address: string): void {
  const id = `stray ${count++}`;
  ids.set(ws, id);
  UNJOINED.add(id, address, { nowMs: Date.now(), joinMs: 0 });
}

/** It is gone, stray or not. */
export function gone(ws: WebSocket): void {
  const id = ids.get(ws);
  if (id !== undefined) UNJOINED.remove(id);
}
