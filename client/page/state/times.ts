// Times, durations and sizes in words. Pure; `now` is in milliseconds since 1970. Components and state classes call it.

const DAY_MS = 24 * 3600_000;

/** As the reader's language has it: 14:37, 2:37 PM. */
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const monthDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const withYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });

export const clockTime = (at: number): string => timeOfDay.format(at);
export const exactTime = (at: number): string => exact.format(at);

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
  const days = Math.round((midnight(now) - midnight(at)) / DAY_MS);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return new Date(at).getFullYear() === new Date(now).getFullYear() ? weekday.format(at) : withYear.format(at);
}

/** The time of today, or the day: where a name needs its place in the line. */
export function shortTime(at: number, now: number): string {
  const day = dayTitle(at, now);
  return day === "Today" ? timeOfDay.format(at) : day;
}

/** The clock time of a moment of today, otherwise its day, in the shortest form. */
export const briefTime = (at: number, now: number): string =>
  midnight(at) === midnight(now) ? timeOfDay.format(at) : monthDay.format(at);

/** "07:12", "yesterday, 07:12". */
export function sinceTime(at: number, now: number): string {
  const day = dayTitle(at, now);
  if (day === "Today") return timeOfDay.format(at);
  return `${day === "Yesterday" ? "yesterday" : day}, ${timeOfDay.format(at)}`;
}

/** "12 s", "1:05 min", "1 h", "1 h 5 min", "2 days". */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, "0")} min`;
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60 === 0 ? "" : ` ${minutes % 60} min`;
  return hours < 48 ? `${hours} h${rest}` : `${Math.floor(hours / 24)} days`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

function midnight(at: number): number {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
