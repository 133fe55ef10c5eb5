// The connections of a room as those are told of them who look after it.
import type { Membership } from "../src/chat/room.ts";
import { WATCH_NAMESPACE, type ConnectionFacts } from "../src/protocol/watching.ts";
import type { Server } from "../src/socketio/server.ts";
import type { Session } from "../src/socketio/session.ts";

export function connectionsOf(
  { sessions }: Pick<Server, "sessions">,
  lastSeenAtMs: (session: Session) => number,
): ConnectionFacts[] {
  return [...sessions.values()].map((session) => {
    const { sid, handshake, polling, isExtended, sockets } = session;
    const member = sockets.get("/")?.peek() as Membership | undefined;
    const watcher = member ? undefined : (sockets.get(WATCH_NAMESPACE)?.peek() as Membership | undefined);
    const who = member ?? watcher;
    return {
      sid,
      ...(who && { user: who.user, name: who.name, role: who.role }),
      ...(watcher && { isWatching: true }),
      transport: polling ? "polling" : "websocket",
      isExtended,
      since: handshake.issued,
      lastSeen: lastSeenAtMs(session),
    };
  });
}
