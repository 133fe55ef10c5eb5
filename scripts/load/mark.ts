// The mark at the start of every message of a load test: run, room, sender, number and due time. It starts with three fixed
// characters; JSON is not parsed for it.

const MARK = "~p~";
const RUN_CHARS = 4;
const ROOM_DIGITS = 5;
const SENDER_DIGITS = 6;
const COUNTER_DIGITS = 7;
const TIME_DIGITS = 14;
const DIGIT_ZERO = 0x30;

const ROOM_AT = MARK.length + RUN_CHARS;
const SENDER_AT = ROOM_AT + ROOM_DIGITS;
const COUNTER_AT = SENDER_AT + SENDER_DIGITS;
const TIME_AT = COUNTER_AT + COUNTER_DIGITS;

/** Bytes that a message has at least. */
export const PAYLOAD_BYTES_MIN = TIME_AT + TIME_DIGITS;
export const ROOMS_MAX = 10 ** ROOM_DIGITS;
export const USERS_MAX = 10 ** SENDER_DIGITS;
const COUNTERS = 10 ** COUNTER_DIGITS;

export interface Mark {
  readonly room: number;
  /** A number for the message, the same wherever it is seen: its sender and counter. */
  readonly code: number;
  /** Microseconds, on the clock of `clock.ts`. */
  readonly dueUs: number;
}

export interface MarkOfRun {
  /** Four characters that distinguish this run's messages from those of other runs in the same rooms. */
  readonly run: string;
  readonly payloadBytes: number;
}

export const codeOf = (sender: number, counter: number): number => sender * COUNTERS + counter;
export const senderOf = (code: number): number => Math.trunc(code / COUNTERS);

export function markedText({ run, payloadBytes }: MarkOfRun, room: number, code: number, dueUs: number): string {
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

function digitsAt(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) value = value * 10 + bytes[i]! - DIGIT_ZERO;
  return value;
}
