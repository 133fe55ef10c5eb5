// Packs events into batches of the size of a queue message, and makes each kind of event; an event made twice has the same id. Used by
// the feeds.
import { utf8ToBytes } from "@noble/hashes/utils.js";

import type { Message } from "../../protocol/chat-events.ts";
import type { WebhookEvent } from "../../protocol/webhook-events.ts";
import { withChange, type Kept } from "../log/change.ts";

/** Events in one message of the queue. */
export const WEBHOOK_EVENTS_MAX = 100;

/** Bytes of these events as JSON. The queue takes messages of 128,000. */
export const WEBHOOK_BYTES_MAX = 100_000;

/** Orders events of the same millisecond. */
const STEPS_PER_MS = 4;

/** A batch to send, and notes to take: some before it is sent, the rest once the queue has it. */
export interface Parcel {
  readonly batch: WebhookBatch;
  readonly before: Array<() => void>;
  readonly after: Array<() => void>;
}

export class WebhookBatch {
  readonly events: WebhookEvent[] = [];
  #bytes = 0;
  /** Whether an event did not fit. */
  isFull = false;

  /** @returns whether the event fits; after one that did not, none does */
  add(event: WebhookEvent): boolean {
    const [fitting, bytes] = fit(event);
    this.isFull ||= this.events.length === WEBHOOK_EVENTS_MAX || this.#bytes + bytes > WEBHOOK_BYTES_MAX;
    if (this.isFull) return false;
    this.events.push(fitting);
    this.#bytes += bytes;
    return true;
  }
}

/** An event that would fill a batch alone goes without its content; the receiver can ask for the message. */
function fit(event: WebhookEvent): [WebhookEvent, number] {
  const bytes = bytesOf(event);
  if (bytes <= WEBHOOK_BYTES_MAX || !("message" in event.data)) return [event, bytes];
  const { data } = event;
  const { mentions: _, reactions: __, ...message } = data.message;
  const clipped = { ...event, data: { ...data, message: { ...message, content: "" }, isClipped: true } };
  return [clipped as WebhookEvent, bytesOf(clipped as WebhookEvent)];
}

const bytesOf = (event: WebhookEvent): number => utf8ToBytes(JSON.stringify(event)).length + 1;

const orderOf = (at: number, step: number): number => at * STEPS_PER_MS + step;

export function posted(message: Message): WebhookEvent {
  const { id, room, timestamp: at } = message;
  return { id: `${id}.posted`, type: "message.posted", room, at, order: orderOf(at, 0), data: { message } };
}

/**
 * @param rev of the message's latest change
 * @param sinceRev from which change on an edit is news
 * @returns `undefined` where there is nothing to send: only reactions changed
 */
export function changed({ posted: message, change }: Kept, rev: number, sinceRev: number): WebhookEvent | undefined {
  const { id, seq, room } = message;
  if (change?.deletedBy !== undefined) {
    const data = { id, seq, by: change.deletedBy };
    return { id: `${id}.deleted`, type: "message.deleted", room, at: rev, order: orderOf(rev, 2), data };
  }
  const edit = change?.edits.at(-1);
  if (!edit || edit.timestamp < sinceRev) return undefined;
  const { timestamp: at, by } = edit;
  const data = { message: withChange(message, change), by };
  return { id: `${id}.edited.${at}`, type: "message.edited", room, at, order: orderOf(at, 1), data };
}

/** A member's stay in a room, or the time for which the room is occupied. */
interface Stay {
  readonly room: string;
  readonly epoch: string;
  readonly since: number;
}

export function joined({ room, epoch, since }: Stay, user: string, name: string): WebhookEvent {
  const data = { user, name };
  const id = `${epoch}.joined.${since}.${user}`;
  return { id, type: "member.joined", room, at: since, order: orderOf(since, 1), data };
}

export function left({ room, epoch, since }: Stay, user: string, at: number): WebhookEvent {
  const id = `${epoch}.left.${since}.${user}`;
  return { id, type: "member.left", room, at, order: orderOf(at, 0), data: { user } };
}

export function occupied({ room, epoch, since }: Stay, user: string, name: string): WebhookEvent {
  const data = { user, name };
  const id = `${epoch}.occupied.${since}`;
  return { id, type: "room.occupied", room, at: since, order: orderOf(since, 1), data };
}

export function vacated({ room, epoch, since }: Stay, at: number): WebhookEvent {
  const id = `${epoch}.vacated.${since}`;
  return { id, type: "room.vacated", room, at, order: orderOf(at, 0), data: { since } };
}
