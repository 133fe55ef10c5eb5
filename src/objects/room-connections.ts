// The connections of a room as its stats and its watchers see them. Called by the chat room.
import { bytesToHex } from "@noble/hashes/utils.js";

import type { Membership } from "../chat/room/room.ts";
import { digestOf } from "../protocol/digest.ts";
import { WATCH_NAMESPACE, type ConnectionFacts } from "../protocol/watching.ts";
import type { Server } from "../socketio/server/server.ts";
import type { Session } from "../socketio/engine/session.ts";

/** Hexadecimal digits of an id: 128 bits. */
const ID_CHARS = 32;

const ids = new WeakMap<Session, string>();

/** Names a connection to other users. A hash, because the `sid` itself opens the session. EIO-12 */
function idOf(session: Session): string {
  const known = ids.get(session);
  if (known !== undefined) return known;
  const id = bytesToHex(digestOf(session.sid)).slice(0, ID_CHARS);
  ids.set(session, id);
  return id;
}

export function connectionsOf(
  { sessions }: Pick<Server, "sessions">,
  lastSeenAtMs: (session: Session) => number,
): ConnectionFacts[] {
  return [...sessions.values()].map((session) => {
    const { handshake, polling, isExtended, sockets } = session;
    const member = sockets.get("/")?.peek() as Membership | undefined;
    const watcher = member ? undefined : (sockets.get(WATCH_NAMESPACE)?.peek() as Membership | undefined);
    const who = member ?? watcher;
    return {
      id: idOf(session),
      ...(who && { user: who.user, name: who.name, role: who.role }),
      ...(watcher && { isWatching: true }),
      transport: polling ? "polling" : "websocket",
      isExtended,
      since: handshake.issued,
      lastSeen: lastSeenAtMs(session),
    };
  });
}
