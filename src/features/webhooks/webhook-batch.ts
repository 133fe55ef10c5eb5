// Packs events into batches of the size of a queue message, and makes each kind of event; an event made twice has the same id. Used by
// the feeds.
import type { Message } from "../../protocol/chat-events.ts";
import type { WebhookEvent } from "../../protocol/webhook-events.ts";
import { bytesOf, Packing } from "../../relay/packing.ts";
import { withChange, type Kept } from "../../chat/log/change.ts";

/** Events in one message of the queue. */
export const WEBHOOK_EVENTS_MAX = 100;

/** Bytes of these events as JSON. The queue takes messages of 128,000. */
export const WEBHOOK_BYTES_MAX = 100_000;

/** Orders events of the same millisecond. */
const STEPS_PER_MS = 4;

/** Events that wait for the next call. The lists move marks: `onSend` before the call, `onTaken` once the queue has the events. */
export interface OutgoingEvents {
  readonly batch: WebhookBatch;
  readonly onSend: Array<() => void>;
  readonly onTaken: Array<() => void>;
}

export class WebhookBatch {
  readonly events: WebhookEvent[] = [];
  readonly #packing = new Packing({ itemsMax: WEBHOOK_EVENTS_MAX, bytesMax: WEBHOOK_BYTES_MAX });

  get isFull(): boolean {
    return this.#packing.isFull;
  }

  /** @returns whether the event fits; after one that did not, none does */
  add(event: WebhookEvent): boolean {
    const clipped = clip(event);
    const fits = this.#packing.take(clipped);
    if (fits) this.events.push(clipped);
    return fits;
  }
}

/** An event that would fill a batch alone goes without its content; the receiver can ask for the message. */
function clip(event: WebhookEvent): WebhookEvent {
  if (!("message" in event.data) || bytesOf(event) < WEBHOOK_BYTES_MAX) return event;
  const { data } = event;
  const { mentions: _, reactions: __, ...message } = data.message;
  return { ...event, data: { ...data, message: { ...message, content: "" }, isClipped: true } } as WebhookEvent;
}

const orderOf = (at: number, step: number): number => at * STEPS_PER_MS + step;

export function posted(message: Message): WebhookEvent {
  const { id, room, timestamp: at } = message;
  return { id: `${id}.posted`, type: "message.posted", room, at, order: orderOf(at, 0), data: { message } };
}

/**
 * @param rev of the message's latest change
 * @param sinceRev from which change on an edit is news
 * @returns `undefined` if there is nothing to send: only reactions changed
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
