// The mark at the start of every message of the bench: sender, number and time. It starts with three fixed characters and is
// read digit by digit, because parsing JSON would cost more than receiving it.
import { codeOf } from "../accounting.ts";

const MARK = "~b~";
const SENDER_DIGITS = 5;
const COUNTER_DIGITS = 6;
const TIME_DIGITS = 11;
const TEXT_CHARS = 100;
const [TILDE, LETTER] = [0x7e, 0x62];
const DIGIT_ZERO = 0x30;

const SENDER_AT = MARK.length;
const COUNTER_AT = SENDER_AT + SENDER_DIGITS;
const TIME_AT = COUNTER_AT + COUNTER_DIGITS;
const FILLER = "x".repeat(TEXT_CHARS - TIME_AT - TIME_DIGITS);

/** @param atUs microseconds on the generator's clock */
export function markedText(sender: number, counter: number, atUs: number): string {
  const time = String(Math.trunc(atUs)).padStart(TIME_DIGITS, "0");
  return `${MARK}${String(sender).padStart(SENDER_DIGITS, "0")}${String(counter).padStart(COUNTER_DIGITS, "0")}${time}${FILLER}`;
}

/** Calls back for every mark in a range of bytes. @returns how many there were */
export function eachMark(
  bytes: Uint8Array,
  start: number,
  end: number,
  found: (code: number, atUs: number) => void,
): number {
  const last = end - TEXT_CHARS;
  let count = 0;
  for (let at = start; at <= last; at++) {
    if (bytes[at] !== TILDE || bytes[at + 1] !== LETTER || bytes[at + 2] !== TILDE) continue;
    const sender = digits(bytes, at + SENDER_AT, SENDER_DIGITS);
    const counter = digits(bytes, at + COUNTER_AT, COUNTER_DIGITS);
    found(codeOf(sender, counter), digits(bytes, at + TIME_AT, TIME_DIGITS));
    count++;
    at += TEXT_CHARS - 1;
  }
  return count;
}

function digits(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) value = value * 10 + bytes[i]! - DIGIT_ZERO;
  return value;
}
