// Schemas of files: the attachment of a message, and the upload that the Worker describes to a room.
import * as z from "zod/mini";

import { FILE_KEY_LENGTH_MAX } from "../file-key.ts";
import { FILE_NAME_LENGTH_MAX } from "../media-type.ts";
import { atMs, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

const TYPE_LENGTH_MAX = 127;
const PIXELS_MAX = 1_000_000;

const pixels = z.exactOptional(z.int().check(z.minimum(1), z.maximum(PIXELS_MAX)));

const facts = {
  // UTF-16 units: a character has two at most.
  name: z.string().check(z.minLength(1), z.maxLength(2 * FILE_NAME_LENGTH_MAX)),
  type: z.string().check(z.minLength(3), z.maxLength(TYPE_LENGTH_MAX)),
  size: z.int().check(z.minimum(1)).apply(described, "Bytes"),
  width: pixels.apply(described, "Pixels as shown; of images that tell"),
  height: pixels,
};

const storedFileSchema = z.object({
  key: z
    .string()
    .check(z.minLength(1), z.maxLength(FILE_KEY_LENGTH_MAX))
    .apply(described, "Opaque; names the file everywhere"),
  ...facts,
});

/** A file in the storage, as its upload described it. */
export type StoredFile = Sent<typeof storedFileSchema>;

/** Refuses values that cannot be attachments; the room checks the key's signature. */
export const attachmentSchema = z.object({
  ...storedFileSchema.shape,
  preview: z
    .exactOptional(storedFileSchema)
    .apply(described, "A small picture of it, uploaded before as a file of its own"),
});

/** A file that a message carries: the answer of an upload, unchanged, and its preview. `GET /files/KEY` reads it. */
export type Attachment = Sent<typeof attachmentSchema>;

export const passSchema = z.object({
  pass: z.string().apply(described, "For `?pass=` of the file"),
  until: atMs("When it ends"),
});

/** A pass to a file. */
export type FilePassGiven = Sent<typeof passSchema>;

export const uploadedSchema = z.object({ attachment: attachmentSchema.apply(named, "Attachment") });

/** @see Attachments */
export const uploadSchema = z.object({
  ...facts,
  id: z.string().check(z.regex(/^[0-9a-z]{20,40}$/)),
  /** The room permitted this upload before, by the type that the client claimed. */
  isPermitted: z.optional(z.literal(true)),
});
