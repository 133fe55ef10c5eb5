// The files of a message, in the one form that posts, messages and drafts have: `attachment` is the first, and of several `attachments` has
// all. Rooms, Worker, client and page read and write it by these functions.
import type { Attachment, StoredFile } from "./schemas/files.ts";

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
