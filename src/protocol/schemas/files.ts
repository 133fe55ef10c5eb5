// Schemas of files: the attachment of a message, and the upload that the Worker describes to a room.
import * as z from "zod";

import { FILE_KEY_LENGTH_MAX } from "../file-key.ts";
import { FILE_NAME_LENGTH_MAX } from "../media-type.ts";
import type { Sent } from "./fields.ts";

const TYPE_LENGTH_MAX = 127;
const PIXELS_MAX = 1_000_000;

const pixels = z.exactOptional(z.int().min(1).max(PIXELS_MAX));

const facts = z.object({
  // UTF-16 units: a character has two at most.
  name: z
    .string()
    .min(1)
    .max(2 * FILE_NAME_LENGTH_MAX),
  type: z.string().min(3).max(TYPE_LENGTH_MAX),
  size: z.int().min(1).describe("Bytes"),
  width: pixels.describe("Pixels as shown; of images that tell"),
  height: pixels,
});

/** Keeps away what cannot be an attachment; the room checks the key's signature. */
export const attachmentSchema = z.object({
  key: z.string().min(1).max(FILE_KEY_LENGTH_MAX).describe("Opaque; names the file everywhere"),
  ...facts.shape,
});

/** A file that a message carries: the answer of an upload, unchanged. `GET /files/KEY` reads it. */
export type Attachment = Sent<typeof attachmentSchema>;

export const uploadedSchema = z.object({ attachment: attachmentSchema.meta({ id: "Attachment" }) });

/** @see Attachments */
export const uploadSchema = facts.extend({
  id: z.string().regex(/^[0-9a-z]{20,40}$/),
  isPermitted: z
    .literal(true)
    .optional()
    .describe("The room permitted this upload before, by the type that the client claimed"),
});
