// Keys of files: one path segment that names the room, and sorts the files of a room by age. Used by src/chat, durable/chat-room.ts and
// src/worker/api.
//
//   ROOM!EPOCH!TIMEID!MAC     `!` is in none of the parts, and stands in a URL as it is
import { ROOM_NAME } from "./room-name.ts";

export interface FileKey {
  readonly room: string;
  /** The epoch of the room's log: a room has other files after its deletion. */
  readonly epoch: string;
  /** In milliseconds since 1970. */
  readonly uploadedMs: number;
  readonly id: string;
  /** The signature, which only the room can write. */
  readonly mac: string;
}

/** A file of a room: its key, and the epoch of the log whose messages hold it. */
export interface FileOfLog {
  readonly key: string;
  readonly epoch: string;
}

/** Characters of a time in base 36: enough until the year 5188, and all of one length, so that they sort. */
const TIME_CHARS = 9;
const KEY = /^([^!]{1,64})!([0-9a-z]{1,40})!([0-9a-z]{9})([0-9a-z]{1,40})!([0-9a-f]{32})$/;

/** No key is longer. */
export const FILE_KEY_LENGTH_MAX = 64 + 1 + 40 + 1 + TIME_CHARS + 40 + 1 + 32;

export function fileKey({ room, epoch, uploadedMs, id, mac }: FileKey): string {
  return `${filesSince(room, epoch, uploadedMs)}${id}!${mac}`;
}

/** Sorts before the keys of files that were uploaded at that time or later, and behind all earlier ones. */
export function filesSince(room: string, epoch: string, uploadedMs: number): string {
  return filesOf(room, epoch) + Math.max(0, uploadedMs).toString(36).padStart(TIME_CHARS, "0");
}

/** @returns `undefined` for a text that is no key */
export function parseFileKey(key: string): FileKey | undefined {
  if (key.length > FILE_KEY_LENGTH_MAX) return undefined;
  const [, room, epoch, time, id, mac] = KEY.exec(key) ?? [];
  if (room === undefined || !ROOM_NAME.test(room)) return undefined;
  return { room, epoch: epoch!, uploadedMs: Number.parseInt(time!, 36), id: id!, mac: mac! };
}

/** The prefix of the keys of all files of a room, or of those of one epoch of its log. */
export function filesOf(room: string, epoch?: string): string {
  return epoch === undefined ? `${room}!` : `${room}!${epoch}!`;
}
