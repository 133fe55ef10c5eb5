// Functions on the fields of a message: its id, its thread, the normal form of its text, its files. Rooms, shards, Worker and client call them, as do
// the schemas of posts, edits and drafts; the claims of tokens ask whether a name can be seen.
import type { ErrorAnswer } from "./chat-events.ts";
import { refuse } from "./refuse.ts";
import type { Attachment, StoredFile } from "./schemas/files.ts";
import type { Message } from "./schemas/messages.ts";

/**
 * The contents of an id: a message's seq, and the incarnation of the log in which it was posted. Ids are opaque outside; here they say where a
 * message is, so that finding one needs no index.
 */
export interface ParsedMessageId {
  readonly seq: number;
  readonly incarnation: string;
}

/**
 * @param epoch the log's own name, which makes the id unique everywhere
 * @param incarnation tells it from a message that had the same seq, where a backup has been restored since (incarnations.ts)
 */
export function messageId(epoch: string, seq: number, incarnation = ""): string {
  return `${epoch}${incarnation}-${seq.toString(36)}`;
}

/** @returns `undefined` for an id of another log. Another message may have the seq by now. */
export function parseMessageId(epoch: string, id: string): ParsedMessageId | undefined {
  const dash = id.lastIndexOf("-");
  if (!id.startsWith(epoch) || dash < epoch.length) return undefined;
  const seq = Number.parseInt(id.slice(dash + 1), 36);
  const incarnation = id.slice(epoch.length, dash);
  return messageId(epoch, seq, incarnation) === id ? { seq, incarnation } : undefined;
}

/** The `id` of the first message of the thread of a reply (THR-1); `undefined` for a message that is no reply. */
export const threadOf = ({ thread, replyTo }: Pick<Message, "thread" | "replyTo">): string | undefined =>
  thread ?? replyTo;

/** A vertical tab is how word processors copy a line break inside a paragraph. */
const LINE_END = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const CONTROLS = /(?![\t\n])\p{Cc}/gu;
const BLANK_LINES = /^(?:[^\S\n]*\n)+/;

/**
 * A visible character: neither a space, nor one without a width, nor the braille pattern without a dot. A character that this runtime's
 * Unicode does not know yet counts as visible.
 */
const VISIBLE =
  /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cc}\p{Cf}\p{Cs}\u2800]/u;

export const isVisible = (text: string): boolean => VISIBLE.test(text);

/**
 * MSG-12: all line ends are line feeds; other control characters but tabs are left out, and half a surrogate pair is U+FFFD. Spaces and blank
 * lines around the text are left out, except before the first of several lines: that is how code is indented. A text in which nothing can
 * be seen is empty.
 */
export function normalContent(given: string): string {
  const text = given.toWellFormed().replaceAll(LINE_END, "\n").replaceAll(CONTROLS, "");
  if (!isVisible(text)) return "";
  const whole = text.trimEnd().replace(BLANK_LINES, "");
  return whole.includes("\n") ? whole : whole.trimStart();
}

/** Why a room does not take a text, new or edited. */
export interface ContentProblem {
  readonly code: "INVALID_PAYLOAD" | "TOO_LONG";
  /** Without the name of the field. */
  readonly message: string;
}

/**
 * @param content in its normal form
 * @param lengthMax in characters: Unicode code points
 * @param mayBeEmpty the message carries a file
 */
export function contentProblem(content: string, lengthMax: number, mayBeEmpty = false): ContentProblem | undefined {
  if (content === "" && !mayBeEmpty) return { code: "INVALID_PAYLOAD", message: "must not be empty" };
  // Counts code points only where UTF-16 units leave a doubt.
  if (content.length <= lengthMax || Array.from(content).length <= lengthMax) return undefined;
  return { code: "TOO_LONG", message: `at most ${lengthMax} characters` };
}

/** The same as an answer to a client. */
export function refuseContent(...given: Parameters<typeof contentProblem>): ErrorAnswer | undefined {
  const problem = contentProblem(...given);
  return problem && refuse(problem.code, `content: ${problem.message}`);
}

/** The one form that posts, messages and drafts have: `attachment` is the first file, and of several `attachments` has all. */
export interface WithFiles {
  readonly attachment?: Attachment | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
}

export function attachmentsOf({ attachment, attachments }: WithFiles): readonly Attachment[] {
  return attachments ?? (attachment ? [attachment] : []);
}

export function withFiles(files: readonly Attachment[]): {
  readonly attachment?: Attachment;
  readonly attachments?: readonly Attachment[];
} {
  const [attachment] = files;
  return { ...(attachment && { attachment }), ...(files.length > 1 && { attachments: files }) };
}

/** All that is stored for a message: its files, and their previews. */
export function storedFilesOf(message: WithFiles): StoredFile[] {
  return attachmentsOf(message).flatMap((file) => (file.preview ? [file, file.preview] : [file]));
}

/** Characters that each file costs besides what people wrote: quotes, numbers. */
const FILE_CHARS = 64;

/** Characters that the files of a message take in it. */
export const fileCharsOf = (message: WithFiles): number =>
  storedFilesOf(message).reduce(
    (chars, { key, name, type }) => chars + key.length + name.length + type.length + FILE_CHARS,
    0,
  );

/** What stands for the files of a message in a line of text. */
export const fileNamesOf = (message: WithFiles): string =>
  attachmentsOf(message)
    .map(({ name }) => name)
    .join(", ");
