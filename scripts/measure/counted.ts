// Events that a bill is made of, as the server counts them: read from `/metrics` before and after a run. Called by run.ts.

/** Counted events by name, each with its metric or series. */
const SERIES = {
  posts: "parley_messages_posted_total",
  commits: "parley_commit_batch_messages_count",
  rowsWritten: "parley_rows_written_total",
  alarms: "parley_alarms_set_total",
  upgrades: "parley_connections_opened_total",
  // Packets by long-polling are billed as requests.
  framesIn: 'parley_frames_received_total{transport="websocket"}',
  reports: "parley_lobby_reports_total",
  awakeSeconds: "parley_room_awake_seconds_total",
};

type Counted = Partial<Record<keyof typeof SERIES, number>>;

/** Each series, and the sum of all series of each metric, in the Prometheus text format 0.0.4. */
function sumsOf(text: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(\{.*\})?\s+(\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
    if (labels !== "") sums.set(`${name}${labels}`, Number(value));
  }
  return sums;
}

/** The events between two scrapes. Series that the server does not expose are left out. */
export function countedBetween(before: string, after: string): Counted {
  const [earlier, later] = [sumsOf(before), sumsOf(after)];
  const known = Object.entries(SERIES).filter(([, series]) => later.has(series));
  return Object.fromEntries(known.map(([name, series]) => [name, later.get(series)! - (earlier.get(series) ?? 0)]));
}

/** @returns `undefined` if the server shows no metrics with this token */
export async function scrape(origin: string, token: string | undefined): Promise<string | undefined> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  try {
    const response = await fetch(`${origin}/metrics`, { headers });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}
