// The parts of a chat's deployment besides its code: Durable Object classes, a bucket, queues; with the names that parley-rooms looks for.
// create-parley prints them for a Worker's configuration, `parley-rooms doctor` compares a configuration with them.

export interface ClassPart {
  readonly binding: string;
  readonly className: string;
  /** The part of the chat that is off without it. */
  readonly purpose: string;
}

export const ROOM: ClassPart = { binding: "CHAT_ROOM", className: "ChatRoom", purpose: "the rooms" };
export const LOBBY: ClassPart = {
  binding: "LOBBY",
  className: "Lobby",
  purpose: "lists of rooms and of direct messages, /metrics, announcements to users",
};
export const ANNOUNCEMENTS: ClassPart = {
  binding: "ANNOUNCEMENTS",
  className: "Announcements",
  purpose: "announcements to many rooms",
};
export const DEAD_LETTERS: ClassPart = {
  binding: "DEAD_LETTERS",
  className: "DeadLetters",
  purpose: "keeping undelivered messages of links and announcements",
};
export const SHARDS: ClassPart = {
  binding: "ROOM_SHARD",
  className: "RoomShard",
  purpose: "rooms with more members than one object holds",
};
export const CLASSES: readonly ClassPart[] = [ROOM, LOBBY, ANNOUNCEMENTS, DEAD_LETTERS, SHARDS];

export const FILES = { binding: "FILES", suffix: "-files", purpose: "files in messages" };

/** A queue with its dead-letter queue. Batches and retries are those of this repository's wrangler.toml, as a test holds. */
export interface QueuePart {
  readonly binding: string;
  /** The Worker knows the queue by the end of its name. */
  readonly suffix: string;
  readonly consumer: Readonly<Record<string, number>>;
  readonly dead: {
    /** Where the Worker itself puts messages into the dead-letter queue. */
    readonly binding?: string;
    readonly suffix: string;
    readonly consumer?: Readonly<Record<string, number>>;
  };
  readonly purpose: string;
}

export const RELAY: QueuePart = {
  binding: "RELAY_QUEUE",
  suffix: "-relay",
  consumer: { max_batch_size: 100, max_batch_timeout: 0, max_retries: 20 },
  dead: {
    suffix: "-relay-dead",
    consumer: { max_batch_size: 10, max_batch_timeout: 1, max_retries: 100, retry_delay: 600 },
  },
  purpose: "links between rooms and announcements through a queue (RELAY=direct needs none)",
};
export const WEBHOOKS: QueuePart = {
  binding: "WEBHOOKS",
  suffix: "-webhooks",
  consumer: { max_batch_size: 10, max_batch_timeout: 1, max_retries: 20 },
  dead: { binding: "WEBHOOKS_DEAD", suffix: "-webhooks-dead" },
  purpose: "webhooks",
};
export const QUEUES: readonly QueuePart[] = [RELAY, WEBHOOKS];

/** Frames are not compressed by default, and the runtime has to know. */
export const FLAG = "no_web_socket_compression";
export const COMPRESSING_FLAG = "web_socket_compression";
