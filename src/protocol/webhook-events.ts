// The events that a room sends to the operator's server (HOOK-1). Envelope and signature: docs/webhooks.md.
import type { Message } from "./chat-events.ts";

interface WebhookEnvelope<Type extends string, Data extends object> {
  /** The same event has the same id, however often it is delivered. */
  readonly id: string;
  readonly type: Type;
  readonly room: string;
  /** When it happened (`member.left`, `room.vacated`: when the room packed it), in milliseconds since 1970. */
  readonly at: number;
  /** Of two events about the same message, the same member or the same room, the later one has the higher `order`. */
  readonly order: number;
  readonly data: Data;
}

export type WebhookEvent =
  /** `isClipped`: the content was too large for an event and is left out. */
  | WebhookEnvelope<"message.posted", { readonly message: Message; readonly isClipped?: true }>
  /** The message as it is now; the last of several quick edits may stand for all. */
  | WebhookEnvelope<"message.edited", { readonly message: Message; readonly by: string; readonly isClipped?: true }>
  | WebhookEnvelope<"message.deleted", { readonly id: string; readonly seq: number; readonly by: string }>
  | WebhookEnvelope<"member.joined", { readonly user: string; readonly name: string }>
  | WebhookEnvelope<"member.left", { readonly user: string }>
  /** The first member. */
  | WebhookEnvelope<"room.occupied", { readonly user: string; readonly name: string }>
  /** Since when the room was occupied, in milliseconds since 1970. */
  | WebhookEnvelope<"room.vacated", { readonly since: number }>;

/** One message of the queue: events of one room, in their order. */
export interface WebhookBatch {
  readonly room: string;
  readonly events: readonly WebhookEvent[];
}

/** The body of a POST. */
export interface WebhookDelivery {
  readonly events: readonly WebhookEvent[];
}
