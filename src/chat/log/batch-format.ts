// The stored format of a batch of messages: one JSON text per batch. History, dedupe, recovery and export all read it through
// `decodeBatch`.
//
//   batch       [1, timestampMs, [message, …], life?]: the incarnation of the log in which they were posted
//   message     {s, n?, c, t?, m?, r?, h?, a?, f?, p?, o?, w?}: sender, name where it is not the sender's id, content, milliseconds after
//               the batch's own timestamp where there are any, clientMsgId, replyTo, thread, the first file, its
//               further files, the previews of all files in their order (0 where a file has none), origin, the author's role
//               where that was "moderator" or "service"
//   file        [key, name, type, size, width?, height?]
//   origin      [room, seq, epoch, hops, via?]: where a mirrored message began, and how it came from there
//
// A reader derives the rest: room and epoch are the log's, `seq` and `id` follow from the position of
// the batch. A new optional key needs no new version; a key that changes what another one means does.
import type { Attachment, Message, Origin, Role, StoredFile } from "../../protocol/chat-events.ts";
import { attachmentsOf, messageId, withFiles } from "../../protocol/message.ts";
import { isStaff, type StaffRole } from "../../protocol/roles.ts";
import { UNNAMED_INCARNATION } from "../../storage/incarnations.ts";
import { makeOrigin, routeOf } from "./origin.ts";

const VERSION = 1;

/** One message at rest; keys are short because they are stored with every message. JSON leaves out those that are undefined. */
interface StoredMessage {
  readonly s: string;
  readonly n?: string | undefined;
  readonly c: string;
  readonly t?: number | undefined;
  readonly m?: string | undefined;
  readonly r?: string | undefined;
  readonly h?: string | undefined;
  readonly a?: FileAtRest | undefined;
  readonly f?: readonly FileAtRest[] | undefined;
  readonly p?: ReadonlyArray<FileAtRest | 0> | undefined;
  readonly o?: StoredOrigin | undefined;
  readonly w?: StaffRole | undefined;
}

type StoredOrigin = readonly [room: string, seq: number, epoch: string, hops: number, ...via: [] | readonly [string]];

type FileAtRest = readonly [
  key: string,
  name: string,
  type: string,
  size: number,
  ...pixels: [] | readonly [width: number, height: number],
];

/** Where a batch stands in which log: its reader needs that besides the text. */
export interface BatchPosition {
  readonly room: string;
  readonly epoch: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** A batch that this code cannot read: of another version, or damaged. The message says where it stands and why. */
export class UnreadableBatch extends Error {
  override readonly name = "UnreadableBatch";
}

/** @param messages at least one */
export function encodeBatch(messages: readonly Message[], incarnation = UNNAMED_INCARNATION): string {
  const startMs = messages[0]!.timestamp;
  const stored = messages.map((message) => toStored(message, startMs));
  return JSON.stringify([VERSION, startMs, stored, ...(incarnation === UNNAMED_INCARNATION ? [] : [incarnation])]);
}

/** A text at the end of the list, where otherwise the list of messages ends. */
const INCARNATION_AT_END = /,"([0-9a-z]+)"\]$/;
/** UTF-16 units of that at most. */
const INCARNATION_END_LENGTH_MAX = 32;

/** Reads the incarnation of the log in which a batch was posted from the end of the text. */
export function incarnationOfBatch(text: string): string {
  // A batch that was rewritten where it stood may end in spaces.
  return INCARNATION_AT_END.exec(text.trimEnd().slice(-INCARNATION_END_LENGTH_MAX))?.[1] ?? UNNAMED_INCARNATION;
}

function toStored(message: Message, startMs: number): StoredMessage {
  const { sender, name, content, timestamp, clientMsgId, replyTo, thread, origin } = message;
  const files = attachmentsOf(message);
  const [first, ...further] = files;
  return {
    s: sender,
    n: name === sender ? undefined : name,
    c: content,
    t: timestamp === startMs ? undefined : timestamp - startMs,
    m: clientMsgId,
    r: replyTo,
    h: thread,
    a: first && fileAtRest(first),
    f: further.length > 0 ? further.map(fileAtRest) : undefined,
    p: files.some(({ preview }) => preview)
      ? files.map(({ preview }) => (preview ? fileAtRest(preview) : 0))
      : undefined,
    o: origin && storedOrigin(origin),
    w: staffRoleOf(message),
  };
}

function storedOrigin(origin: Origin): StoredOrigin {
  const { epoch, hops, via } = routeOf(origin);
  return via === undefined ? [origin.room, origin.seq, epoch, hops] : [origin.room, origin.seq, epoch, hops, via];
}

function toOrigin([room, seq, epoch, hops, via]: StoredOrigin): Origin {
  return makeOrigin(room, seq, { epoch, hops, ...(via !== undefined && { via }) });
}

function fileAtRest({ key, name, type, size, width, height }: StoredFile): FileAtRest {
  return width === undefined || height === undefined ? [key, name, type, size] : [key, name, type, size, width, height];
}

function toFile([key, name, type, size, width, height]: FileAtRest): StoredFile {
  return { key, name, type, size, ...(width !== undefined && height !== undefined && { width, height }) };
}

function toAttachments({ a, f = [], p = [] }: StoredMessage): Attachment[] {
  if (!a) return [];
  return [a, ...f].map((file, at) => {
    const preview = p[at];
    return { ...toFile(file), ...(preview && { preview: toFile(preview) }) };
  });
}

/** @throws UnreadableBatch */
export function decodeBatch(text: string, position: BatchPosition): Message[] {
  const { startMs, stored } = parseBatch(text, position);
  if (Number.isFinite(startMs) && stored.every(isWhole)) {
    const incarnation = incarnationOfBatch(text);
    return stored.map((message, at) => {
      const seq = position.firstSeq + at;
      return toMessage(message, startMs, { room: position.room, seq, id: messageId(position.epoch, seq, incarnation) });
    });
  }
  throw new UnreadableBatch(`the batch at seq ${position.firstSeq} is damaged`);
}

/** Checks the shape of a stored message: whole JSON may still be of something else. */
function isWhole(stored: StoredMessage | null): stored is StoredMessage {
  if (stored === null || typeof stored !== "object") return false;
  const { s, n, c, t, m, r, h, a, f, p, o, w } = stored;
  return (
    [s, c].every((text) => typeof text === "string") &&
    [n, m, r, h].every((text) => text === undefined || typeof text === "string") &&
    (t === undefined || Number.isFinite(t)) &&
    (a === undefined || isFile(a)) &&
    (f === undefined || (Array.isArray(f) && f.every(isFile))) &&
    (p === undefined || (Array.isArray(p) && p.every((preview) => preview === 0 || isFile(preview)))) &&
    (o === undefined || isListOf(o, ["string", "number", "string", "number", "string"], 4)) &&
    (w === undefined || isStaff(w))
  );
}

const isFile = (stored: unknown): boolean =>
  isListOf(stored, ["string", "string", "string", "number", "number", "number"], 4);

function parseBatch(text: string, { firstSeq, lastSeq }: BatchPosition): { startMs: number; stored: StoredMessage[] } {
  const [version, startMs, stored] = parseList(text, firstSeq) as [unknown, number, StoredMessage[]];
  if (version !== VERSION) {
    throw new UnreadableBatch(
      `the batch at seq ${firstSeq} is of version ${JSON.stringify(version)}; this code reads ${VERSION}`,
    );
  }
  const count = lastSeq - firstSeq + 1;
  if (!Array.isArray(stored) || stored.length !== count) {
    throw new UnreadableBatch(`the batch at seq ${firstSeq} does not hold ${count} messages`);
  }
  return { startMs, stored };
}

/** @param least number of items that have to be there */
function isListOf(list: unknown, types: readonly string[], least: number): boolean {
  if (!Array.isArray(list) || list.length < least || list.length > types.length) return false;
  return list.every((item, at) => typeof item === types[at] && item !== Infinity && item !== -Infinity);
}

function parseList(text: string, firstSeq: number): unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed;
  } catch (cause) {
    throw new UnreadableBatch(`the batch at seq ${firstSeq} is no JSON`, { cause });
  }
  throw new UnreadableBatch(`the batch at seq ${firstSeq} is no list`);
}

function toMessage(stored: StoredMessage, startMs: number, position: Pick<Message, "room" | "seq" | "id">): Message {
  const { s, n, c, t, m, r, h, o, w } = stored;
  const message = {
    ...position,
    sender: s,
    name: n ?? s,
    content: c,
    timestamp: startMs + (t ?? 0),
    ...(m !== undefined && { clientMsgId: m }),
    ...(r !== undefined && { replyTo: r }),
    ...(h !== undefined && { thread: h }),
    ...withFiles(toAttachments(stored)),
    ...(o && { origin: toOrigin(o) }),
  };
  return writtenAs(message, w);
}

/**
 * The role in which a message was written, if its author's token says more than "member". Editing judges the rank of authors who are away by
 * it (user-records.ts). It is never sent to clients, so a WeakMap holds it beside the object, as it holds the route of an origin.
 */
const roles = new WeakMap<Message, StaffRole>();

/** @returns the same message, with that role noted */
export function writtenAs(message: Message, role: Role | undefined): Message {
  if (role !== undefined && isStaff(role)) roles.set(message, role);
  return message;
}

/** @param message as the log has it */
export function staffRoleOf(message: Message): StaffRole | undefined {
  return roles.get(message);
}
