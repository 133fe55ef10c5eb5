// Attachments: the room permits an upload and signs its description, and the Worker stores the file. The client posts the signed
// description, so the room checks it without a row and without reading the storage of files (FILE-2).
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

import { defineEvent } from "../../protocol/event.ts";
import { uploadedSchema, uploadSchema } from "../../protocol/schemas/files.ts";
import type { Answer, Attachment, ErrorAnswer, FilesWelcome, StoredFile } from "../../protocol/chat-events.ts";
import { fileKey, parseFileKey, type FileKey } from "../../protocol/file-key.ts";
import { filePass, parseFilePass, type FilePass } from "../../protocol/file-pass.ts";
import { PASS_MS, POST_WINDOW_MS } from "../../protocol/limits.ts";
import { attachmentsOf, storedFilesOf, type WithFiles } from "../../protocol/message.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { FileSweep } from "./file-sweep.ts";
import { handler, UPLOAD, type Caller } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";
import { isSameSecret } from "../../socketio/recovery/same-secret.ts";

/** Tokens that an upload costs: ten small ones at once, then some two a second. */
export const UPLOAD_COST = 20;
/** One token more for so many bytes: large ones are slowed down to some 3 MB a second. */
const UPLOAD_BYTES_PER_TOKEN = 65_536;
/** A full bucket of requests. */
export const UPLOAD_COST_MAX = 200;

/** Hexadecimal digits of a signature: 128 bits. */
const MAC_CHARS = 32;

const UPLOADING = defineEvent({
  name: UPLOAD,
  schema: uploadSchema,
  good: uploadedSchema,
  cost: ({ size, isPermitted }) =>
    isPermitted ? 0 : Math.min(UPLOAD_COST_MAX, UPLOAD_COST + Math.floor(size / UPLOAD_BYTES_PER_TOKEN)),
  by: "speakers",
  verb: "upload files",
  examples: [],
});

export type UploadAnswer = Answer<{ readonly attachment: Attachment }>;

type Facts = Omit<StoredFile, "key">;

export class Attachments implements RoomPart {
  readonly #room: Room;
  readonly #files: FileSweep;
  readonly #limits: FilesWelcome;

  /** Called by the Worker for an upload; not among the operations of sockets. */
  readonly upload = handler(UPLOADING, (caller, { id, isPermitted: _isPermitted, ...facts }) =>
    this.#permit(caller, id, facts),
  );

  constructor(room: Room, files: FileSweep, limits: FilesWelcome) {
    this.#room = room;
    this.#files = files;
    this.#limits = limits;
  }

  welcome(): FilesWelcome {
    return this.#limits;
  }

  #permit(caller: Caller, id: string, facts: Facts): UploadAnswer {
    if (!this.#files.expect()) return refuse("INTERNAL", "The upload could not be noted; try again.");
    const { name, log } = this.#room;
    const place = { room: name, epoch: log.epoch, uploadedMs: this.#room.now(), id };
    return {
      ok: true,
      attachment: { key: fileKey({ ...place, mac: this.#mac(place, caller.user, facts) }), ...facts },
    };
  }

  /** FILE-2: refuses files of a post, or their previews, that were not uploaded to this room by this user with this description. */
  problem(post: WithFiles, caller: Pick<Caller, "user">): ErrorAnswer | undefined {
    const { attachment, attachments } = post;
    if (attachment && attachments && attachment.key !== attachments[0]!.key)
      return refuse("INVALID_PAYLOAD", "attachment: beside attachments it has to be the first of them");
    const files = storedFilesOf(post);
    if (new Set(files.map(({ key }) => key)).size < files.length)
      return refuse("INVALID_PAYLOAD", "attachments: a file can be in a message once");
    for (const [at, file] of attachmentsOf(post).entries()) {
      const path = attachments ? `attachments.${at}` : "attachment";
      const problem =
        this.#problemOf(file, caller, path) ??
        (file.preview && this.#problemOf(file.preview, caller, `${path}.preview`));
      if (problem) return problem;
    }
    return undefined;
  }

  #problemOf({ key, ...facts }: StoredFile, { user }: Pick<Caller, "user">, path: string): ErrorAnswer | undefined {
    const parsed = parseFileKey(key);
    if (!parsed || !isSameSecret(this.#mac(parsed, user, facts), parsed.mac) || parsed.room !== this.#room.name)
      return refuse("INVALID_PAYLOAD", `${path}: not an upload of yours to this room, or changed since`);
    if (this.#room.now() - parsed.uploadedMs <= POST_WINDOW_MS) return undefined;
    return refuse("INVALID_PAYLOAD", `${path}: uploaded too long ago; upload it again`);
  }

  /** FILE-10: signs a pass to one file, for a user who may read it. */
  passTo(
    key: string,
    { user, role }: Pick<Caller, "user" | "role">,
  ): { readonly pass: string; readonly until: number } {
    const until = this.#room.now() + PASS_MS;
    return {
      pass: filePass({ untilMs: until, user, role, mac: this.#passMac(key, { untilMs: until, user, role }) }),
      until,
    };
  }

  /** @returns the user of a pass that this room has signed for the file, and that has not ended */
  holderOf(key: string, given: string): Pick<FilePass, "user" | "role"> | undefined {
    const pass = parseFilePass(given);
    const isValid = pass && isSameSecret(this.#passMac(key, pass), pass.mac) && this.#room.now() < pass.untilMs;
    return isValid ? pass : undefined;
  }

  #passMac(key: string, { untilMs, user, role }: Omit<FilePass, "mac">): string {
    return this.#sign(["pass", key, untilMs, user, role]);
  }

  #mac({ room, epoch, uploadedMs, id }: Omit<FileKey, "mac">, user: string, facts: Facts): string {
    const { name, type, size, width, height } = facts;
    return this.#sign(["file", room, epoch, uploadedMs, id, user, name, type, size, width, height]);
  }

  #sign(parts: readonly unknown[]): string {
    const signed = utf8ToBytes(JSON.stringify(parts));
    return bytesToHex(hmac(sha256, utf8ToBytes(this.#room.log.key), signed)).slice(0, MAC_CHARS);
  }
}
