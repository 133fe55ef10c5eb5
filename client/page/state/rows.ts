// Builds the rows of the message list from the timeline: days, the line above new messages, messages grouped by author. Pure;
// rebuilt after each change.
import type { Message, NotShown, Outgoing } from "parley-rooms/client";

/** Messages of one author within that time are one group. */
const GROUP_MS = 5 * 60_000;

export type Row =
  | { readonly kind: "beginning"; readonly key: string }
  | { readonly kind: "day"; readonly key: string; readonly at: number }
  | { readonly kind: "unread"; readonly key: string }
  /** Messages that were not shown to the crowd. */
  | { readonly kind: "not-shown"; readonly key: string; readonly from: number; readonly to: number }
  /** `isHead`: the first of a group, which shows author and time. */
  | { readonly kind: "message"; readonly key: string; readonly message: Message; readonly isHead: boolean }
  | { readonly kind: "outgoing"; readonly key: string; readonly outgoing: Outgoing; readonly isHead: boolean };

interface Shown {
  readonly messages: readonly Message[];
  readonly outgoing: readonly Outgoing[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
  readonly notShown: readonly NotShown[];
  readonly self: string;
  /** The first message that is new to the reader comes after this one; nothing is marked without it. */
  readonly unreadAfter: number | undefined;
  /** The `id` of the first message of the thread that is shown: all replies are to it. */
  readonly thread?: string;
  /** Stands above the first one, with its day. */
  readonly above?: Message | undefined;
}

export function rowsOf({
  messages,
  outgoing,
  hasEarlier,
  hasLater,
  notShown,
  self,
  unreadAfter,
  thread,
  above,
}: Shown): Row[] {
  const rows: Row[] = hasEarlier ? [] : [{ kind: "beginning", key: "beginning" }];
  let before: Message | undefined;
  let day = above && dayOf(above.timestamp);
  let isMarked = unreadAfter === undefined;
  const left = [...notShown];
  const pushNotShown = (beforeSeq: number): void => {
    while (left[0] && left[0].from < beforeSeq) {
      rows.push({ kind: "not-shown", key: `not-shown ${left[0].from}`, ...left.shift()! });
      before = undefined;
    }
  };
  for (const message of messages) {
    pushNotShown(message.seq);
    const isNewDay = !day || message.timestamp < day.from || message.timestamp >= day.to;
    if (isNewDay) {
      day = dayOf(message.timestamp);
      rows.push({ kind: "day", key: `day ${message.seq}`, at: message.timestamp });
    }
    const isFirstUnread = !isMarked && message.seq > unreadAfter! && message.sender !== self;
    if (isFirstUnread) {
      isMarked = true;
      // The line is needed only below a message that was read.
      if (before) rows.push({ kind: "unread", key: "unread" });
    }
    const isHead = isNewDay || isFirstUnread || !before || !goesOn(before, message, thread);
    rows.push({ kind: "message", key: `m${message.seq}`, message, isHead });
    before = message;
  }
  pushNotShown(Infinity);
  if (hasLater) return rows;
  let isHead = before?.sender !== self;
  for (const waiting of outgoing) {
    rows.push({ kind: "outgoing", key: `o${waiting.clientMsgId}`, outgoing: waiting, isHead });
    isHead = false;
  }
  return rows;
}

function goesOn(before: Message, message: Message, thread?: string): boolean {
  const isSame = before.sender === message.sender && before.name === message.name;
  return isSame && message.timestamp - before.timestamp < GROUP_MS && (message.replyTo ?? thread) === thread;
}

interface Day {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** In the reader's own calendar. */
function dayOf(timestamp: number): Day {
  const date = new Date(timestamp);
  const midnight = (days: number): number =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
  return { from: midnight(0), to: midnight(1) };
}
