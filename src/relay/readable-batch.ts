// Checks the shape of relayed batches and of pieces of announcements. Versions meet while a deployment is under way, and operators put
// messages into queues by hand; neither may hold up other messages. Used by rooms and by the consumers of queues.
import { z } from "zod";

import {
  ANNOUNCE_VERSION,
  ANNOUNCEMENT_ID_CHARS_MAX,
  isReservedEvent,
  POSTED_EVENT,
  type AnnounceItem,
  type AnnouncePart,
} from "../protocol/announcement.ts";
import { isTooDeep, JSON_LEVELS_MAX } from "../protocol/nesting.ts";
import { readAs } from "../protocol/read-as.ts";
import { RELAY_VERSION, type DeadLetter, type RelayBatch } from "../protocol/relay-batch.ts";
import { ROOM_NAME } from "../protocol/room-name.ts";

/** More than all lobbies list. Progress takes memory in proportion to the highest number. */
const PLACE_MAX = 9_999_999;
/** The data of an announcement may nest as deep as a request's body, and lies deeper here. */
const LEVELS_MAX = 2 * JSON_LEVELS_MAX;

const room = z.string().regex(ROOM_NAME);
const whole = z.int().min(0);
const root = z.object({ room, epoch: z.string(), seq: whole });
const life = z.string().optional();
const post = z.object({
  seq: whole,
  life,
  sender: z.string(),
  name: z.string(),
  content: z.string(),
  role: z.enum(["moderator", "service"]).optional(),
  root,
  hops: whole,
});
const change = z.object({
  seq: whole,
  timestamp: whole,
  rev: whole,
  rootRev: whole,
  root,
  by: z.string(),
  content: z.string().optional(),
});

const spanOf = <Item extends z.ZodType>(item: Item) => z.object({ after: whole, upTo: whole, items: z.array(item) });

const batch = z.object({
  v: z.literal(RELAY_VERSION),
  from: room,
  to: room,
  epoch: z.string(),
  since: whole,
  linkedAtMs: whole,
  posts: spanOf(post).extend({ afterLife: life, upToLife: life }),
  changes: spanOf(change),
});

const announce = z.object({
  v: z.literal(ANNOUNCE_VERSION),
  id: z.string().min(1).max(ANNOUNCEMENT_ID_CHARS_MAX),
  event: z
    .string()
    .refine((event) => event === POSTED_EVENT || !isReservedEvent(event))
    .optional(),
  at: whole,
  by: z.object({ user: z.string().min(1), name: z.string() }),
});
const place = whole.max(PLACE_MAX);
const users = z.array(z.tuple([place, z.string()]));
const part = z.object({
  announce,
  part: place,
  tries: whole,
  to: z.array(z.object({ room, number: place.optional(), users: users.optional() })),
  whoever: users.optional(),
});
const walk = z.object({ prefix: z.string(), after: z.string().optional(), rooms: place, parts: place });
const item = z.union([part, z.object({ announce, walk }), z.object({ announce, part: place, look: users })]);
/** Each kind of item has exactly one of these keys. */
const KINDS = ["to", "walk", "look"];

export const UNREADABLE = "it is of another version, or nothing that rooms pass on to each other";

export const isReadable = (body: unknown): body is RelayBatch =>
  !isTooDeep(body, LEVELS_MAX) && readAs(batch, body).success;

export function isReadableItem(body: unknown): body is AnnounceItem {
  if (isTooDeep(body, LEVELS_MAX) || !readAs(item, body).success) return false;
  return KINDS.filter((kind) => kind in (body as AnnounceItem)).length === 1;
}

export const isReadablePart = (body: unknown): body is AnnouncePart => isReadableItem(body) && "to" in body;

/** Describes anything for logs and lists of dead letters; names that it does not have are empty. */
export function describeBatch(
  body: unknown,
): Pick<DeadLetter, "from" | "announcement" | "to" | "messages" | "changes"> {
  const { from, to, posts, changes, announce } = fieldsOf(body);
  // Parts of announcements are buried room by room.
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
