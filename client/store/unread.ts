// Counts the messages that the user has not read, and those that mention them. Pure. Part of `parley-rooms/client`: called by applications, the
// hooks and the pages.
import type { Message } from "../../src/protocol/chat-events.ts";
import type { RoomState } from "./state.ts";

export interface Unread {
  /**
   * Messages of others after `readSeq`. Where not all of them are loaded, places in the room's order, among which the user's own
   * messages count as well.
   */
  readonly count: number;
  /** The `seq` of the first of them, where it is loaded. */
  readonly firstSeq: number | undefined;
  /** Those that mention the user, as far as they are loaded; in a room between two people, all of them. */
  readonly mentions: number;
}

/** Whether a message of another user mentions the user, or is written to them alone. */
export function speaksTo({ me, welcome }: Pick<RoomState, "me" | "welcome">, message: Message): boolean {
  const { sender, deleted, mentions = [] } = message;
  return sender !== me.user && !deleted && (welcome?.direct !== undefined || mentions.includes(me.user));
}

export function unreadOf(state: RoomState): Unread {
  const { me, messages, reading, welcome } = state;
  const { readSeq, lastSeq } = reading;
  const { stored, hasEarlier, hasLater } = messages;
  if (!welcome || lastSeq <= readSeq) return { count: 0, firstSeq: undefined, mentions: 0 };
  const [first] = stored;
  const reachesBack = first !== undefined && (!hasEarlier || first.seq <= readSeq + 1);
  // `lastSeq` goes on by counts alone while the client gets no messages (ATT-1).
  const areAllLoaded = reachesBack && !hasLater && (lastSeq === welcome.lastSeq || stored.at(-1)!.seq >= lastSeq);
  const unread = stored.filter(({ seq, sender }) => seq > readSeq && sender !== me.user);
  // `welcome.unread` is the number of messages after the mark of then, and less than their seqs say where the room has dropped some. A mark that
  // has gone back since has others after it.
  const kept = readSeq < welcome.readSeq ? Infinity : welcome.unread + lastSeq - welcome.lastSeq;
  return {
    count: areAllLoaded ? unread.length : Math.min(lastSeq - readSeq, kept),
    firstSeq: reachesBack ? unread[0]?.seq : undefined,
    mentions: unread.filter((message) => speaksTo(state, message)).length,
  };
}
