// Calls that upload and read files (FILE-1, FILE-4).
import * as z from "zod/mini";

import { userSchema } from "../../../settings/tokens/claims.ts";
import { FILE_KEY_LENGTH_MAX, parseFileKey } from "../../../protocol/file-key.ts";
import { PASS_LENGTH_MAX } from "../../../protocol/file-pass.ts";
import { described, DESCRIPTIONS } from "../../../protocol/schemas/described.ts";
import { passSchema, uploadedSchema } from "../../../protocol/schemas/files.ts";
import { atMs, count, limitOf } from "../../../protocol/schemas/fields.ts";
import { pageAnswers } from "../pages.ts";
import { listFiles } from "../files/listing.ts";
import { answering, call, room, type ApiCall } from "../call.ts";
import { EVERYONE, MEMBERS, SERVICE } from "../access.ts";
import { linkFile, noSuchFile, readFile } from "../files/reading.ts";
import { uploadFile } from "../files/upload.ts";

/** UTF-16 units of a given name; a longer text is no name. */
const NAME_GIVEN_LENGTH_MAX = 1024;

const BYTES = z.string().register(DESCRIPTIONS, { format: "binary" });

const key = z.string().apply(described, "Of an attachment");

const FILES_LIMIT_DEFAULT = 100;
const FILES_LIMIT_MAX = 500;

const storedFile = z.object({
  key: z.string(),
  room: z.string(),
  user: z.exactOptional(z.string()).apply(described, "Who uploaded it; absent for files of earlier releases"),
  name: z.string(),
  type: z.string(),
  size: count.apply(described, "Bytes"),
  uploadedAt: atMs("When its upload began"),
});

export const FILE_CALLS: readonly ApiCall[] = [
  call({
    id: "uploadFile",
    method: "post",
    path: "/api/rooms/{room}/files",
    ofDirectRooms: MEMBERS,
    summary: "Upload a file",
    description:
      "The body is the file, its type the `Content-Type`. What comes back is posted as `attachment` of a message, unchanged " +
      "and by the same user, within an hour.",
    // The room knows better: it may have granted a reader more.
    roles: EVERYONE,
    given: z.object({
      room,
      name: z
        ._default(z.string().check(z.maxLength(NAME_GIVEN_LENGTH_MAX)), "")
        .apply(described, "What the file is called; a path is cut off"),
      as: z.optional(userSchema).apply(described, "The user who will post it, if a service uploads"),
    }),
    rawBody: "The file's bytes, with `Content-Length`",
    answers: { 201: { description: "It is stored", schema: answering(uploadedSchema) } },
    refusals: ["TIMED_OUT", "LENGTH_REQUIRED", "TOO_LONG", "UNSUPPORTED_MEDIA_TYPE"],
    run: uploadFile,
  }),
  call({
    id: "listFiles",
    method: "get",
    path: "/api/files",
    summary: "List the stored files",
    description: "By room, then by time. Wakes no room. Files of rooms between two people are left out.",
    roles: SERVICE,
    given: z.object({
      room: z.optional(room),
      limit: limitOf({ byDefault: FILES_LIMIT_DEFAULT, max: FILES_LIMIT_MAX }),
      after: z
        .optional(z.string().check(z.maxLength(FILE_KEY_LENGTH_MAX)))
        .apply(described, "The key with which the page before ended; `Link` has it"),
    }),
    answers: pageAnswers(z.object({ files: z.array(storedFile), hasMore: z.boolean() })),
    run: listFiles,
  }),
  call({
    id: "readFile",
    method: "get",
    path: "/files/{key}",
    isLinked: true,
    summary: "Read a file",
    description: "For everyone whose token opens its room. `Range` asks for a part.",
    roles: EVERYONE,
    takesPass: true,
    given: z.object({
      key,
      pass: z
        .optional(z.string().check(z.maxLength(PASS_LENGTH_MAX)))
        .apply(described, "In place of a token; `GET /files/KEY/link` gives one"),
    }),
    answers: {
      200: {
        description: "The file",
        schema: BYTES,
        contentType: "*/*",
        headers: {
          ETag: "Names the content",
          "Content-Disposition": "The file's name, and whether it is safe to show in place",
          "Accept-Ranges": "`bytes`",
        },
      },
      206: {
        description: "A part of it",
        schema: BYTES,
        contentType: "*/*",
        headers: { "Content-Range": "Which part" },
      },
      304: { description: "`If-None-Match` names what is there" },
    },
    refusals: ["RANGE_NOT_SATISFIABLE"],
    run: async (asked) => {
      const key = parseFileKey(asked.given.key);
      return key ? readFile(asked, key) : noSuchFile();
    },
  }),
  call({
    id: "linkFile",
    method: "get",
    path: "/files/{key}/link",
    summary: "Get a pass to a file",
    description:
      "For everyone who may read the file. `/files/KEY?pass=PASS` is an address that needs no token, for an hour: for players, " +
      "which load a part after the other.",
    roles: EVERYONE,
    given: z.object({ key }),
    answers: { 200: { description: "The pass", schema: answering(passSchema) } },
    run: async (asked) => {
      const key = parseFileKey(asked.given.key);
      return key ? linkFile(asked, key) : noSuchFile();
    },
  }),
];
