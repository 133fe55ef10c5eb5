// Joins stored messages and those on their way to one list, as most applications draw it. The hooks call it.
import type { Message } from "../../src/protocol/chat-events.ts";
import type { MessagesState, Outgoing } from "./state.ts";

interface Shown {
  /** The same for a message on its way and once it is stored: a key for a list. */
  readonly key: string;
  /** Whether the user wrote it. */
  readonly isOwn: boolean;
}

export interface StoredItem extends Message, Shown {
  readonly state: "stored";
  readonly error?: undefined;
}

/** The fields that only stored messages have. */
type Unset = { readonly [Field in Exclude<keyof Message, keyof Outgoing | "sender" | "name">]?: undefined };

export interface OutgoingItem extends Outgoing, Shown, Unset {
  readonly sender: string;
  readonly name: string;
}

/** `state`: `stored`, or `queued`, `sending`, `failed` for one that the room has not confirmed. */
export type MessageItem = StoredItem | OutgoingItem;

interface Author {
  readonly user: string;
  readonly name: string;
}

/** Items are the same objects as long as their messages and the user are. */
const items = new WeakMap<object, Author & { readonly item: MessageItem }>();

/** In the order in which they are shown. */
export function itemsOf({ stored, outgoing, isOpening, hasLater }: MessagesState, me: Author): MessageItem[] {
  // Messages that arrive before the first page have no place yet.
  const known = isOpening ? [] : stored.map((message) => itemOf(message, me, storedItem));
  return hasLater ? known : [...known, ...outgoing.map((message) => itemOf(message, me, outgoingItem))];
}

function itemOf<Given extends object>(given: Given, me: Author, make: (given: Given, me: Author) => MessageItem) {
  const known = items.get(given);
  if (known?.user === me.user && known.name === me.name) return known.item;
  const item = make(given, me);
  items.set(given, { user: me.user, name: me.name, item });
  return item;
}

function storedItem(message: Message, { user }: Author): StoredItem {
  const isOwn = message.sender === user;
  const key = isOwn && message.clientMsgId !== undefined ? ownKey(message.clientMsgId) : message.id;
  return { ...message, key, isOwn, state: "stored" };
}

const outgoingItem = (message: Outgoing, { user, name }: Author): OutgoingItem => ({
  ...message,
  key: ownKey(message.clientMsgId),
  isOwn: true,
  sender: user,
  name,
});

/** Others may use the same `clientMsgId`. */
const ownKey = (clientMsgId: string): string => `own ${clientMsgId}`;
