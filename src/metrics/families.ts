// Every metric family that `GET /metrics` shows, by its short name in counter deltas. A family that is not here is not shown,
// so labels and units are decided in one place. Names follow https://prometheus.io/docs/practices/naming/

import type { HistogramName } from "./buckets.ts";

export interface Family {
  /** As it is exposed, without the prefix. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface CounterFamily extends Family {
  /** Factor from the counted unit to that of the name; 1 where absent. */
  readonly scale?: number;
  /**
   * Values of the labels that are shown from the beginning, as 0: a series that first appears with the first failures has not
   * risen by them, as Prometheus sees it.
   */
  readonly always?: ReadonlyArray<readonly string[]>;
}

export const PREFIX = "parley_";

export const COUNTERS = {
  opened: {
    name: "connections_opened_total",
    help: "Engine.IO sessions opened, by transport.",
    labels: ["transport"],
    always: [["websocket"], ["polling"]],
  },
  upgraded: { name: "transport_upgrades_total", help: "Upgrades from long-polling to WebSocket." },
  closed: {
    name: "connections_closed_total",
    help: "Engine.IO sessions that ended, by reason.",
    labels: ["reason"],
  },
  connects: {
    name: "connects_total",
    help: "Socket.IO CONNECTs, by result: accepted, or the code of the refusal.",
    labels: ["result"],
    always: [["accepted"], ["UNAUTHORIZED"], ["TOKEN_EXPIRED"]],
  },
  recoveries: {
    name: "recoveries_total",
    help: "CONNECTs that asked for recovery, by result: recovered, gap (messages are missing) or unknown.",
    labels: ["result"],
    always: [["recovered"], ["gap"], ["unknown"]],
  },
  frames_in: {
    name: "frames_received_total",
    help: "Frames received from clients, without heartbeats that the runtime answers.",
    labels: ["transport"],
  },
  bytes_in: { name: "received_bytes_total", help: "Bytes received in frames." },
  frames_out: {
    name: "frames_sent_total",
    help: "Frames sent to clients, each recipient counted.",
    labels: ["transport"],
  },
  bytes_out: { name: "sent_bytes_total", help: "Bytes sent in frames, each recipient counted." },
  events: { name: "events_total", help: "Requests to rooms, by event or call.", labels: ["event"] },
  rejects: {
    name: "rejects_total",
    help: "Requests to rooms that were answered with an error, by code.",
    labels: ["code"],
    always: [["INTERNAL"]],
  },
  verdicts: {
    name: "before_post_verdicts_total",
    help: "Verdicts of a room's own rules: accepted, replaced, rejected or failed.",
    labels: ["result"],
    always: [["rejected"], ["failed"]],
  },
  posted: { name: "messages_posted_total", help: "Messages posted." },
  delivered: { name: "message_deliveries_total", help: "Messages sent to clients, each recipient counted." },
  not_shown: { name: "messages_not_shown_total", help: "Messages stored, and not shown to a crowd." },
  duplicates: { name: "message_duplicates_total", help: "Posts that repeated a stored message." },
  announced: {
    name: "announcement_deliveries_total",
    help: "Announcements sent to clients, each recipient counted.",
  },
  wakes: {
    name: "room_wakes_total",
    help: "Wakes of rooms, by cause and detail (deadline or call).",
    labels: ["cause", "detail"],
  },
  requests: {
    name: "room_requests_total",
    help: "Billed requests to rooms without WebSocket messages, by kind.",
    labels: ["kind"],
  },
  awake_ms: {
    name: "room_awake_seconds_total",
    help: "Seconds in which rooms could not sleep.",
    scale: 0.001,
  },
  alarms_set: { name: "alarms_set_total", help: "Alarms set; each is billed as a row written." },
  rows: {
    name: "rows_written_total",
    help: "Rows written to the storage of objects, without alarms.",
    labels: ["object"],
    always: [["room"], ["lobby"]],
  },
  problems: {
    name: "problems_total",
    help: "Failures in the log.",
    labels: ["object"],
    always: [["room"], ["lobby"], ["worker"]],
  },
  reports: { name: "lobby_reports_total", help: "Reports of rooms to lobbies." },
  http: {
    name: "http_requests_total",
    help: "HTTP requests answered, by route and status.",
    labels: ["route", "status"],
  },
  refusals: {
    name: "upgrade_refusals_total",
    help: "Refused requests for a connection, by code.",
    labels: ["code"],
  },
  queue: {
    name: "queue_messages_total",
    help: "Queue messages consumed, by result: done, retried, dead or dropped.",
    labels: ["queue", "result"],
    always: ["relay", "webhooks"].flatMap((queue) => ["done", "retried", "dead"].map((result) => [queue, result])),
  },
  file_bytes: {
    name: "file_bytes_total",
    help: "Bytes of uploaded files: stored or deleted.",
    labels: ["what"],
    always: [["stored"], ["deleted"]],
  },
  shard_pieces: { name: "shard_pieces_total", help: "Pieces that shards took, each shard counted." },
  shard_gaps: {
    name: "shard_gaps_total",
    help: "Gaps in what shards got, by result: mended, or lost (the shard closed its connections).",
    labels: ["result"],
    always: [["mended"], ["lost"]],
  },
  shard_sent_away: {
    name: "shard_connections_sent_away_total",
    help: "Connections that shards closed, by cause: gap or home.",
    labels: ["cause"],
    always: [["gap"], ["home"]],
  },
  shard_failures: {
    name: "shard_calls_failed_total",
    help: "Failed calls between rooms and shards: pieces or report.",
    labels: ["call"],
    always: [["pieces"], ["report"]],
  },
  overflow: {
    name: "series_overflow_total",
    help: "Counts without a series: there were too many.",
  },
} as const satisfies Record<string, CounterFamily>;

/** Their buckets are in buckets.ts. */
export const HISTOGRAMS = {
  batch: {
    name: "commit_batch_messages",
    help: "Messages that were stored in one row.",
  },
  commit: {
    name: "commit_seconds",
    help: "Time from the arrival of a message in its room to its write.",
  },
  delivery: {
    name: "delivery_seconds",
    help: "Time from the write of a message until it is durable and sent, sampled.",
  },
  verdict: {
    name: "before_post_seconds",
    help: "Time that a room's own rules took for a verdict.",
  },
  unread: {
    name: "room_unread_bytes",
    help: "Bytes that wait for slow clients in a room, sampled.",
  },
  shard_waiting: {
    name: "shard_waiting_chars",
    help: "Characters that wait for a room's slowest shard, sampled.",
  },
  relay_lag: {
    name: "relay_lag_seconds",
    help: "Time that messages took to another room.",
  },
} as const satisfies Record<HistogramName, Family>;

export const GAUGES = {
  build: { name: "build_info", help: "The version; the value is 1.", labels: ["version"] },
  lobbies: { name: "lobbies", help: "Lobbies." },
  max_members: { name: "room_connections_limit", help: "Connections of a room with its shards, MAX_MEMBERS for each." },
  rooms: { name: "rooms", help: "Rooms in the list: those with members or messages." },
  occupied: { name: "rooms_occupied", help: "Rooms with members." },
  members: { name: "members", help: "Members of all rooms, as last reported." },
  connections: { name: "connections", help: "Connections to all rooms, as last reported." },
  largest: { name: "room_connections_max", help: "Connections to the largest room." },
  shards: { name: "shards", help: "Shards of all rooms, as last reported." },
  in_shards: { name: "shard_connections", help: "Connections in shards, which are part of connections." },
  backlog: { name: "queue_backlog_messages", help: "Messages waiting in a queue.", labels: ["queue"] },
  oldest: {
    name: "queue_oldest_message_age_seconds",
    help: "Age of the oldest message in a queue.",
    labels: ["queue"],
  },
  dead_letters: { name: "dead_letters", help: "Relay batches that failed for good." },
  file_bytes_kept: {
    name: "file_bytes",
    help: "Bytes of the files in storage: those stored less those deleted, as counted so far.",
  },
  top_connections: { name: "top_room_connections", help: "Connections to one of the busiest rooms.", labels: ["room"] },
} as const satisfies Record<string, Family>;

/** Of the busiest rooms alone, each also part of the sums above. */
export const TOP_COUNTERS = {
  posted: {
    name: "top_room_messages_posted_total",
    help: "Messages posted in one of the busiest rooms.",
    labels: ["room"],
  },
  delivered: {
    name: "top_room_message_deliveries_total",
    help: "Deliveries in one of the busiest rooms.",
    labels: ["room"],
  },
  rows: { name: "top_room_rows_written_total", help: "Rows written by one of the busiest rooms.", labels: ["room"] },
  wakes: { name: "top_room_wakes_total", help: "Wakes of one of the busiest rooms.", labels: ["room"] },
  awakeMs: {
    name: "top_room_awake_seconds_total",
    help: "Seconds in which one of the busiest rooms could not sleep.",
    labels: ["room"],
    scale: 0.001,
  },
} as const satisfies Record<string, CounterFamily>;

export type CounterName = keyof typeof COUNTERS;
export type GaugeName = keyof typeof GAUGES;
export type TopCounterName = keyof typeof TOP_COUNTERS;
