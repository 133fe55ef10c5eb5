// Attachments: the room permits an upload and signs its description, and the Worker stores the file. The client posts the signed
// description, so the room checks it without a row and without reading the storage of files (FILE-2).
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

import { defineEvent } from "../../protocol/event.ts";
import { uploadedSchema, uploadSchema } from "../../protocol/schemas/files.ts";
import type { Answer, Attachment, ErrorAnswer, FilesWelcome } from "../../protocol/chat-events.ts";
import { fileKey, parseFileKey, type FileKey } from "../../protocol/file-key.ts";
import { POST_WINDOW_MS } from "../../protocol/limits.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { FileSweep } from "./file-sweep.ts";
import { handler, UPLOAD, type Caller } from "../room/operation.ts";
import type { RoomPart } from "../room/feature.ts";
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

type Facts = Omit<Attachment, "key">;

export class Attachments implements RoomPart {
  readonly #room: Room;
  readonly #files: FileSweep;
  readonly #limits: FilesWelcome;

  /** Called by the Worker for an upload; not among the operations of sockets. */
  readonly upload = handler(UPLOADING, (caller, { id, isPermitted: _isPermitted, ...facts }) =>
    this.#sign(caller, id, facts),
  );

  constructor(room: Room, files: FileSweep, limits: FilesWelcome) {
    this.#room = room;
    this.#files = files;
    this.#limits = limits;
  }

  welcome(): FilesWelcome {
    return this.#limits;
  }

  #sign(caller: Caller, id: string, facts: Facts): UploadAnswer {
    if (!this.#files.expect()) return refuse("INTERNAL", "The upload could not be noted; try again.");
    const { name, log } = this.#room;
    const place = { room: name, epoch: log.epoch, uploadedMs: this.#room.now(), id };
    return {
      ok: true,
      attachment: { key: fileKey({ ...place, mac: this.#mac(place, caller.user, facts) }), ...facts },
    };
  }

  /** Refuses an attachment that was not uploaded to this room by this user with this description. */
  problem({ key, ...facts }: Attachment, { user }: Pick<Caller, "user">): ErrorAnswer | undefined {
    const parsed = parseFileKey(key);
    if (!parsed || !isSameSecret(this.#mac(parsed, user, facts), parsed.mac) || parsed.room !== this.#room.name)
      return refuse("INVALID_PAYLOAD", "attachment: not an upload of yours to this room, or changed since");
    if (this.#room.now() - parsed.uploadedMs <= POST_WINDOW_MS) return undefined;
    return refuse("INVALID_PAYLOAD", "attachment: uploaded too long ago; upload it again");
  }

  #mac({ room, epoch, uploadedMs, id }: Omit<FileKey, "mac">, user: string, facts: Facts): string {
    const { name, type, size, width, height } = facts;
    const signed = JSON.stringify(["file", room, epoch, uploadedMs, id, user, name, type, size, width, height]);
    return bytesToHex(hmac(sha256, utf8ToBytes(this.#room.log.key), utf8ToBytes(signed))).slice(0, MAC_CHARS);
  }
}
