// The batches that rooms pass on to each other, in the form in which they travel (RLY-1, RLY-2). Read by relay/readable-batch.ts.
import * as z from "zod/mini";

import { RELAY_VERSION } from "../relay-batch.ts";
import { ROOM_NAME } from "../room-name.ts";
import { count, type Sent } from "./fields.ts";

export const roomName = z.string().check(z.regex(ROOM_NAME));

const rootSchema = z.object({
  room: roomName,
  /** The epoch of the log, and after a dot its incarnation, where that has a name. */
  epoch: z.string(),
  seq: count,
});

/** The room where a message began, and its place there. */
export type Root = Sent<typeof rootSchema>;

const lifeSchema = z.exactOptional(z.string());

const postSchema = z.object({
  /** Its place in the room that passes it on. */
  seq: count,
  /** The incarnation of that log. */
  life: lifeSchema,
  sender: z.string(),
  name: z.string(),
  content: z.string(),
  /** The role it was written in, if higher than a member. */
  role: z.exactOptional(z.literal(["moderator", "service"])),
  root: rootSchema,
  /** Links passed by the time it arrives. */
  hops: count,
});

export type RelayedPost = Sent<typeof postSchema>;

const changeSchema = z.object({
  /** The place of the message in the room that passes it on. */
  seq: count,
  /** When it was posted there. */
  timestamp: count,
  /** The change's place among the changes of that room. */
  rev: count,
  /** The same in the room where the message began: the higher one is the later. */
  rootRev: count,
  root: rootSchema,
  /** The user who made it. */
  by: z.string(),
  /** The content now; absent where the message was deleted. */
  content: z.exactOptional(z.string()),
});

/** An edit or a deletion of a message. */
export type RelayedChange = Sent<typeof changeSchema>;

/** All messages or changes behind `after` that cross, up to and with `upTo`; items ascend. */
const spanOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.object({ after: count, upTo: count, items: z.array(item) });

export const batchSchema = z.object({
  v: z.literal(RELAY_VERSION),
  from: roomName,
  to: roomName,
  /** Of the log of the room that passes on. */
  epoch: z.string(),
  /** Messages up to here are not passed on. */
  sinceSeq: count,
  /** In milliseconds since 1970; also the `rev` behind which changes are passed on. */
  linkedAtMs: count,
  // After a backup was restored, other messages have the same places.
  posts: z.object({ ...spanOf(postSchema).shape, afterLife: lifeSchema, upToLife: lifeSchema }),
  changes: spanOf(changeSchema),
});

/** Messages and changes that cross a link together. */
export type RelayBatch = Sent<typeof batchSchema>;
