// Formats numbers for the operator, and sums up a list of rooms. Pure; the components call it.
import { WAKE_CAUSES, type Cost, type DeadLetter, type ListedRoom, type Use, type WakeCause } from "./answers.ts";

export const HOUR_MS = 3_600_000;

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** The origin of a dead letter: a room, an announcement, or unknown where the batch could not be read. */
export function originText({ from, announcement }: Pick<DeadLetter, "from" | "announcement">): string {
  if (announcement !== undefined) return `announcement ${announcement}`;
  return from || "unknown";
}

/** "1,234", "12.3K". */
export const countText = (count: number): string => (count < 10_000 ? whole : short).format(count);

/** By the hour: "0", "< 0.1", "2.5", "1,234". */
export function rateText(perHour: number): string {
  if (perHour > 0 && perHour < 0.1) return "< 0.1";
  return perHour < 10 ? String(Math.round(perHour * 10) / 10) : countText(Math.round(perHour));
}

/** "1 room", "2 rooms". */
export const numberOf = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** Dollars; "< $0.01" for less than a cent, a dash for `null`, which is unknown yet. */
export function dollarsText(dollars: number | null): string {
  if (dollars === null) return "–";
  if (dollars > 0 && dollars < 0.01) return "< $0.01";
  return dollars < 1000 ? `$${dollars.toFixed(2)}` : `$${whole.format(Math.round(dollars))}`;
}

/** "12 s", "5 min", "3 h", "12 d". */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} d`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** How much of a time a room could not sleep: "0 %", "< 1 %", "37 %". */
export function awakeShare({ awakeSeconds }: Pick<Use, "awakeSeconds">, ofMs: number): string {
  const share = Math.min(1, (awakeSeconds * 1000) / Math.max(1, ofMs));
  return share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(share * 100)} %`;
}

export const wakesOf = ({ wakes }: Pick<Use, "wakes">): number =>
  WAKE_CAUSES.reduce((sum, cause) => sum + wakes[cause], 0);

export const CAUSE_WORDS: Readonly<Record<WakeCause, string>> = {
  connect: "A client connected",
  message: "A client sent something",
  close: "A client left",
  alarm: "Its alarm",
  call: "The HTTP API",
  watch: "An operator watched",
};

/** The share of each cause that occurred, as a stretch of a bar from 0 to 1. */
export function wakeParts(
  use: Pick<Use, "wakes">,
): Array<{ cause: WakeCause; count: number; from: number; to: number }> {
  const sum = wakesOf(use);
  let from = 0;
  return WAKE_CAUSES.filter((cause) => use.wakes[cause] > 0).map((cause) => {
    const count = use.wakes[cause];
    const part = { cause, count, from, to: from + count / sum };
    from = part.to;
    return part;
  });
}

export interface Sums {
  readonly rooms: number;
  readonly occupied: number;
  readonly members: number;
  readonly connections: number;
  /** On average, and lately; `null` while unknown for all rooms. */
  readonly monthlyCost: number | null;
  readonly monthlyCostLately: number | null;
}

export function sumsOf(rooms: readonly ListedRoom[]): Sums {
  const sum = (of: (room: ListedRoom) => number): number => rooms.reduce((all, room) => all + of(room), 0);
  const priced = (of: (room: ListedRoom) => Cost | null): number | null =>
    rooms.some((room) => of(room) !== null) ? sum((room) => of(room)?.total ?? 0) : null;
  return {
    rooms: rooms.length,
    occupied: rooms.filter(({ connections }) => connections > 0).length,
    members: sum(({ members }) => members),
    connections: sum(({ connections }) => connections),
    monthlyCost: priced(({ monthlyCost }) => monthlyCost),
    monthlyCostLately: priced(({ lately }) => lately.monthlyCost),
  };
}

/** The rooms whose id or display name contains the wanted text, in any case. */
export function matching(rooms: readonly ListedRoom[], wanted: string): readonly ListedRoom[] {
  const text = wanted.trim().toLowerCase();
  return text === "" ? rooms : rooms.filter(({ room, name = "" }) => `${room}\n${name}`.toLowerCase().includes(text));
}

/** Whether the administrator typed the room's name, as dialogs ask before an action that cannot be undone. */
export const isConfirmed = (typed: string, room: string): boolean => typed.trim() === room;
