// Checks the shape of relayed batches and of parts of announcements. During a deployment messages of two versions meet, and operators
// may put messages into queues by hand; neither may hold up other messages. Used by rooms and by the consumers of queues.
import type { AnnounceItem, AnnouncePart } from "../protocol/announcement.ts";
import { isTooDeep, JSON_LEVELS_MAX } from "../protocol/nesting.ts";
import { readAs } from "../protocol/input.ts";
import type { DeadLetter, RelayBatch } from "../protocol/relay-batch.ts";
import { itemSchema } from "../protocol/schemas/announcement.ts";
import { batchSchema } from "../protocol/schemas/relay-batch.ts";

/** The data of an announcement may nest as deep as a request's body, and lies deeper here. */
const LEVELS_MAX = 2 * JSON_LEVELS_MAX;

/** Each kind of item has exactly one of these keys. */
const KINDS = ["to", "walk", "look"];

export const UNREADABLE = "it is of another version, or nothing that rooms pass on to each other";

export const isReadable = (body: unknown): body is RelayBatch =>
  !isTooDeep(body, LEVELS_MAX) && readAs(batchSchema, body).success;

export function isReadableItem(body: unknown): body is AnnounceItem {
  if (isTooDeep(body, LEVELS_MAX) || !readAs(itemSchema, body).success) return false;
  return KINDS.filter((kind) => kind in (body as AnnounceItem)).length === 1;
}

export const isReadablePart = (body: unknown): body is AnnouncePart => isReadableItem(body) && "to" in body;

/** Describes anything for logs and lists of dead letters; names that it does not have are empty. */
export function describeBatch(
  body: unknown,
): Pick<DeadLetter, "from" | "announcement" | "to" | "messages" | "changes"> {
  const { from, to, posts, changes, announce } = fieldsOf(body);
  // A dead letter of an announcement is for one room.
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
