// The mark at the start of every message of a run: run, room, sender, number and due time. It starts with three fixed characters; JSON is
// not parsed for it. Called by members, which find it, and by crowd.ts, which writes it.

const MARK = "~p~";
const RUN_CHARS = 4;
const ROOM_DIGITS = 5;
const SENDER_DIGITS = 6;
const COUNTER_DIGITS = 7;
const TIME_DIGITS = 14;
const DIGIT_ZERO = 0x30;

const ROOM_AT = MARK.length + RUN_CHARS;
const SENDER_AT = ROOM_AT + ROOM_DIGITS;
const TIME_AT = SENDER_AT + SENDER_DIGITS + COUNTER_DIGITS;

/** Bytes that a message has at least. */
export const PAYLOAD_BYTES_MIN = TIME_AT + TIME_DIGITS;
export const ROOMS_MAX = 10 ** ROOM_DIGITS;
export const USERS_MAX = 10 ** SENDER_DIGITS;
const COUNTERS = 10 ** COUNTER_DIGITS;

export interface Mark {
  readonly room: number;
  /** A number for the message, the same wherever it is seen: its sender and counter. */
  readonly code: number;
  readonly dueUs: number;
}

export const codeOf = (sender: number, counter: number): number => sender * COUNTERS + counter;

/** @param run four characters that distinguish this run's messages from those of other runs in the same rooms */
export function markedText(run: string, payloadBytes: number, { room, code, dueUs }: Mark): string {
  const digits = (value: number, count: number): string => String(Math.trunc(value)).padStart(count, "0");
  const head = `${MARK}${run}${digits(room, ROOM_DIGITS)}${digits(code, SENDER_DIGITS + COUNTER_DIGITS)}`;
  return `${head}${digits(dueUs, TIME_DIGITS)}`.padEnd(payloadBytes, "x");
}

/** The mark of this run in a range of bytes, if there is one. */
export function findMark(run: string, bytes: Buffer, start: number, end: number): Mark | undefined {
  const at = bytes.indexOf(`${MARK}${run}`, start, "latin1");
  if (at === -1 || at + PAYLOAD_BYTES_MIN > end) return undefined;
  return {
    room: digitsAt(bytes, at + ROOM_AT, ROOM_DIGITS),
    code: digitsAt(bytes, at + SENDER_AT, SENDER_DIGITS + COUNTER_DIGITS),
    dueUs: digitsAt(bytes, at + TIME_AT, TIME_DIGITS),
  };
}

export function markIn(run: string, content: string): Mark | undefined {
  const bytes = Buffer.from(content, "latin1");
  return findMark(run, bytes, 0, bytes.length);
}

function digitsAt(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) value = value * 10 + bytes[i]! - DIGIT_ZERO;
  return value;
}
