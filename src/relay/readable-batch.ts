// Whether something that a queue or another room hands over is what this code can read: a batch between rooms, or a piece of
// an announcement. Versions meet while a deployment is under way, and people put messages into queues by hand: none of that
// may cost those who come along.
import { z } from "zod";

import { ANNOUNCE_VERSION, type AnnounceItem, type AnnouncePart } from "../protocol/announcement.ts";
import { RELAY_VERSION, type DeadLetter, type RelayBatch } from "../protocol/relay-batch.ts";

const root = z.object({ room: z.string(), epoch: z.string(), seq: z.number() });
const post = z.object({
  seq: z.number(),
  sender: z.string(),
  name: z.string(),
  content: z.string(),
  root,
  hops: z.number(),
});
const change = z.object({
  seq: z.number(),
  timestamp: z.number(),
  rev: z.number(),
  rootRev: z.number(),
  root,
  by: z.string(),
  content: z.string().optional(),
});
const spanOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ after: z.number(), upTo: z.number(), items: z.array(item) });
const batch = z.object({
  v: z.literal(RELAY_VERSION),
  from: z.string().min(1),
  to: z.string().min(1),
  epoch: z.string(),
  since: z.number(),
  linkedAtMs: z.number(),
  posts: spanOf(post),
  changes: spanOf(change),
});

const announce = z.object({
  v: z.literal(ANNOUNCE_VERSION),
  id: z.string().min(1),
  event: z.string().optional(),
  by: z.object({ user: z.string(), name: z.string() }),
});
const users = z.array(z.tuple([z.int().min(0), z.string()]));
const place = z.int().min(0);
const part = z.object({
  announce,
  part: place,
  tries: z.number(),
  to: z.array(z.object({ room: z.string().min(1), number: place.optional(), users: users.optional() })),
  whoever: users.optional(),
});
const walk = z.object({ prefix: z.string(), after: z.string().optional(), rooms: place, parts: place });
const item = z.union([part, z.object({ announce, walk }), z.object({ announce, part: place, look: users })]);

export const UNREADABLE = "it is of another version, or nothing that rooms pass on to each other";

export const isReadable = (body: unknown): body is RelayBatch => batch.safeParse(body).success;

export const isReadableItem = (body: unknown): body is AnnounceItem => item.safeParse(body).success;

export const isReadablePart = (body: unknown): body is AnnouncePart => part.safeParse(body).success;

/** What can be said of it, whatever it is; names that it does not have are empty. */
export function describeBatch(
  body: unknown,
): Pick<DeadLetter, "from" | "announcement" | "to" | "messages" | "changes"> {
  const { from, to, posts, changes, announce } = fieldsOf(body);
  // What was announced is buried room by room.
  if (announce !== undefined)
    return { announcement: nameIn(fieldsOf(announce)["id"]), to: onlyRoom(to), messages: 0, changes: 0 };
  return { from: nameIn(from), to: nameIn(to), messages: countIn(posts), changes: countIn(changes) };
}

const fieldsOf = (value: unknown): Partial<Record<string, unknown>> => value ?? {};

const nameIn = (name: unknown): string => (typeof name === "string" ? name : "");

function onlyRoom(to: unknown): string {
  return Array.isArray(to) && to.length === 1 ? nameIn(fieldsOf(to[0])["room"]) : "";
}

function countIn(part: unknown): number {
  const { items } = fieldsOf(part);
  return Array.isArray(items) ? items.length : 0;
}
