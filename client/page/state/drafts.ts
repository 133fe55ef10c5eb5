// Stores drafts in the browser by reader and room, so that they survive reloads and changes of room, and another reader of
// this browser does not see them. The composer's state and stored-data.ts call it.
import type { Attachment, Claims } from "parley-rooms/client";

import { isGuest } from "./reader-identity.ts";
import { keep, keysOf, local, ofTab, readJson, type Unchecked } from "./json-storage.ts";

/** Uploads can be sent for an hour (FILE-2). Older ones are not shown, because the room would refuse them. */
export const UPLOADED_MAX_MS = 55 * 60_000;

/** A message that is being edited. */
export interface KeptEdit {
  readonly id: string;
  /** The text of the message when the edit began. */
  readonly original: string;
  readonly text: string;
}

/** Files that are in the room, and in no message yet. */
export interface Uploaded {
  /** The user who may send them. */
  readonly by: string;
  /** When the first of them was uploaded, in milliseconds since 1970. */
  readonly atMs: number;
  readonly files: readonly Attachment[];
}

export interface KeptDraft {
  readonly text: string;
  /** The `id` of the message that the draft replies to. */
  readonly replyTo: string | undefined;
  readonly edit: KeptEdit | undefined;
  /** Edits that wait for a reply or an edit begun later; the last one is resumed first. */
  readonly aside: readonly KeptEdit[];
  readonly uploaded: Uploaded | undefined;
}

export const EMPTY: KeptDraft = { text: "", replyTo: undefined, edit: undefined, aside: [], uploaded: undefined };

/** Where a draft is kept. */
export interface DraftPlace {
  readonly base: string;
  readonly room: string;
  /** As `writerOf` names them. Until that is known, the draft is this tab's alone. */
  readonly writer: string | undefined;
}

/** A guest may get a new id with a new token: guests of the same name in this browser count as the same writer. */
export const writerOf = ({ user, name = "" }: Pick<Claims, "user" | "name">): string =>
  isGuest(user) ? `guest/${encodeURIComponent(name)}` : encodeURIComponent(user);

/** The prefix of the storage keys of one writer's drafts. */
export const draftPrefix = (base: string, writer = ""): string => `parley.draft ${base} ${writer} `;

const storageOf = ({ writer }: DraftPlace): (() => Storage) => (writer === undefined ? ofTab : local);
const keyOf = ({ base, room, writer }: DraftPlace): string => draftPrefix(base, writer) + room;

export function readDraft(place: DraftPlace): KeptDraft {
  const kept = readJson(storageOf(place), keyOf(place)) as Unchecked<KeptDraft> | undefined;
  const { text, replyTo } = kept ?? {};
  return {
    text: typeof text === "string" ? text : "",
    replyTo: typeof replyTo === "string" ? replyTo : undefined,
    edit: isEdit(kept?.edit) ? kept.edit : undefined,
    aside: listOf(kept?.aside).filter(isEdit),
    uploaded: readUploaded(kept?.uploaded),
  };
}

/** The rooms in which a writer has begun something. */
export function draftedRooms(base: string, writer: string | undefined): readonly string[] {
  const prefix = draftPrefix(base, writer);
  return writer === undefined ? [] : keysOf(local, prefix).map((key) => key.slice(prefix.length));
}

/** The same person writes under another name from now on. */
export function moveDrafts(base: string, from: string, to: string): void {
  for (const room of draftedRooms(base, from)) {
    keep(local, keyOf({ base, room, writer: to }), readJson(local, keyOf({ base, room, writer: from })));
    keep(local, keyOf({ base, room, writer: from }), undefined);
  }
}

export function keepDraft(place: DraftPlace, draft: KeptDraft): void {
  const isEmpty = JSON.stringify(draft) === JSON.stringify(EMPTY);
  keep(storageOf(place), keyOf(place), isEmpty ? undefined : draft);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function isEdit(kept: unknown): kept is KeptEdit {
  const { id, original, text } = (kept ?? {}) as Unchecked<KeptEdit>;
  return typeof id === "string" && typeof original === "string" && typeof text === "string";
}

function readUploaded(kept: unknown): Uploaded | undefined {
  const { by, atMs, files } = (kept ?? {}) as Unchecked<Uploaded>;
  if (typeof by !== "string" || typeof atMs !== "number") return undefined;
  return { by, atMs, files: listOf(files).filter(isFile) };
}

/** The room checks the other fields by the signature in the key. */
function isFile(kept: unknown): kept is Attachment {
  const { key, name, size } = (kept ?? {}) as Unchecked<Attachment>;
  return typeof key === "string" && typeof name === "string" && typeof size === "number";
}
