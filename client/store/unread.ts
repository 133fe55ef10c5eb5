// Counts the messages that the user has not read. Applications and the hooks call it. Pure.
import type { RoomState } from "./state.ts";

export interface Unread {
  /**
   * Messages of others after `readSeq`. Where not all of them are loaded, places in the room's order, among which the user's own
   * messages count as well.
   */
  readonly count: number;
  /** The `seq` of the first of them, where it is loaded. */
  readonly firstSeq: number | undefined;
}

export function unreadOf({ me, messages, reading, welcome }: RoomState): Unread {
  const { readSeq, lastSeq } = reading;
  const { stored, hasEarlier, hasLater } = messages;
  if (!welcome || lastSeq <= readSeq) return { count: 0, firstSeq: undefined };
  const [first] = stored;
  const reachesBack = first !== undefined && (!hasEarlier || first.seq <= readSeq + 1);
  // The room counts further ones while the client attends to counts.
  const areAllLoaded = reachesBack && !hasLater && (lastSeq === welcome.lastSeq || stored.at(-1)!.seq >= lastSeq);
  const unread = stored.filter(({ seq, sender }) => seq > readSeq && sender !== me.user);
  const places = Math.min(lastSeq - readSeq, welcome.unread + lastSeq - welcome.lastSeq);
  return {
    count: areAllLoaded ? unread.length : places,
    firstSeq: reachesBack ? unread[0]?.seq : undefined,
  };
}
