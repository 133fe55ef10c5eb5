// Events that a bill is made of, as the server counts them: read from `/metrics` before and after a run. Called by run.ts.

/** A counted event, and the metrics or series of which it is the sum. Series that the server does not expose are left out. */
const METRIC_OF = {
  posts: ["parley_messages_posted_total"],
  commits: ["parley_commit_batch_messages_count"],
  rowsWritten: ["parley_rows_written_total"],
  alarms: ["parley_alarms_set_total"],
  upgrades: ["parley_connections_opened_total"],
  // Packets by long-polling are billed as requests.
  framesIn: ['parley_frames_received_total{transport="websocket"}'],
  reports: ["parley_lobby_reports_total"],
  awakeSeconds: ["parley_room_awake_seconds_total"],
} as const satisfies Record<string, readonly string[]>;

type CountedName = keyof typeof METRIC_OF;
type Counted = Partial<Record<CountedName, number>>;

/** Each series, and the sum of all series of each metric, in the Prometheus text format 0.0.4. */
export function sumsOf(text: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(\{.*\})?\s+(\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
    if (labels !== "") sums.set(`${name}${labels}`, Number(value));
  }
  return sums;
}

/** The events between two scrapes. */
export function countedBetween(before: string, after: string): Counted {
  const [earlier, later] = [sumsOf(before), sumsOf(after)];
  const counted: Counted = {};
  for (const [name, metrics] of Object.entries(METRIC_OF) as Array<[CountedName, readonly string[]]>) {
    const known = metrics.filter((metric) => later.has(metric));
    if (known.length === 0) continue;
    counted[name] = known.reduce((sum, metric) => sum + later.get(metric)! - (earlier.get(metric) ?? 0), 0);
  }
  return counted;
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
