// Times, durations and sizes in words. Pure; `now` is in milliseconds since 1970. Components and state classes call it.
import { numberText, perLanguage, t, tn } from "./language.ts";

const DAY_MS = 24 * 3600_000;

/** As the reader's language has it: 14:37, 2:37 PM. */
export const clockTime = formatOf({ timeStyle: "short" });
export const exactTime = formatOf({ dateStyle: "full", timeStyle: "medium" });
const weekday = formatOf({ weekday: "long", day: "numeric", month: "long" });
const monthDay = formatOf({ day: "numeric", month: "short" });
const withYear = formatOf({ day: "numeric", month: "long", year: "numeric" });

function formatOf(options: Intl.DateTimeFormatOptions): (at: number) => string {
  const format = perLanguage((locale) => new Intl.DateTimeFormat(locale, options));
  return (at) => format().format(at);
}

/** Makes what the first messages need, while the page waits for them: a slow phone takes a tenth of a second. */
export function prepareTimes(): void {
  for (const format of [clockTime, exactTime]) format(0);
}

/** The day as a field for dates has it: 2026-11-16. */
export function dateOf(at: number): string {
  const date = new Date(at);
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${String(date.getFullYear()).padStart(4, "0")}-${month}-${day}`;
}

/** When such a day begins for the reader. */
export const startOfDate = (date: string): Date => new Date(`${date}T00:00`);

/** "Today", "Yesterday", "Monday 16 November"; with the year in other years. */
export function dayTitle(at: number, now: number): string {
  const days = daysBetween(at, now);
  if (days === 0) return t("Today");
  if (days === 1) return t("Yesterday");
  return new Date(at).getFullYear() === new Date(now).getFullYear() ? weekday(at) : withYear(at);
}

const daysBetween = (at: number, now: number): number => Math.round((midnight(now) - midnight(at)) / DAY_MS);

/** The clock time of a moment of today, otherwise its day, in the shortest form. */
export const briefTime = (at: number, now: number): string =>
  daysBetween(at, now) === 0 ? clockTime(at) : monthDay(at);

/** "07:12", "yesterday, 07:12". */
export function sinceTime(at: number, now: number): string {
  const [days, time] = [daysBetween(at, now), clockTime(at)];
  if (days === 0) return time;
  return days === 1 ? t("yesterday, {time}", { time }) : t("{day}, {time}", { day: dayTitle(at, now), time });
}

/** "12 s", "1:05 min", "1 h", "1 h 5 min", "2 days". */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 60) return t("{n} s", { n: seconds });
  const minutes = Math.floor(seconds / 60);
  const [tens, ones] = [Math.floor((seconds % 60) / 10), seconds % 10].map(numberText);
  if (minutes < 60) return t("{time} min", { time: `${numberText(minutes)}:${tens}${ones}` });
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return tn(Math.floor(hours / 24), "{n} day", "{n} days");
  const [h, m] = [hours, minutes % 60];
  return m === 0 ? t("{h} h", { h }) : t("{h} h {m} min", { h, m });
}

const tenths = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
);

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${numberText(bytes)} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return `${value < 10 ? tenths().format(value) : numberText(Math.round(value))} ${unit}`;
}

function midnight(at: number): number {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
