// A month's bill of a workload: how often each action happens, times the rows, alarms and requests that docs/cost.md counts for it, times the
// platform's rates. Pure; tests hold the counts against rooms. Called by usage.ts.
import { BATCH_POSTS_MAX, batchRate } from "../../src/chat/posting/posts.ts";
import { PRICES } from "../../src/metrics/cost.ts";
import { holdMs } from "../../src/shards/sessions.ts";

/** What src/metrics/cost.ts does not need: the plan with its included amounts, and the rates outside of Durable Objects. */
const PLAN = {
  month: 5,
  requests: 1e6,
  gbSeconds: 400_000,
  rowsWritten: 50e6,
  rowsRead: 25e9,
  storedGb: 5,
  workerRequests: 10e6,
};
const PER_MILLION_ROWS_READ = 0.001;
const PER_STORED_GB = 0.2;
const PER_MILLION_WORKER_REQUESTS = 0.3;

/** The defaults of the settings. */
const FLUSH = { flushWindowMs: 50, flushBurst: 8 };
const PING_SECONDS = 45;
/** Shards that one object calls. */
const FAN_OUT = 64;
/** A new room names its log, and stores the version of its data. */
export const FIRST_VISIT_ROWS = 4;
/** The first message of a room lays out its log: so many rows besides its own. */
export const FIRST_MESSAGE_ROWS = 6;
/** Alarms of members that leave within a second: one ends their grace, and one rings for the ping that was put off. */
const LEAVE_ALARMS = 2;
/** A room that goes on reports so often; a quiet one with each change. */
const REPORT_SECONDS = 60;
const ALARMS_PER_REPORT = 2;
const ROOMS_PER_LOBBY_ROW = 256;
/** A poll waits this long at most, and its room with an alarm for that. */
const POLL_HOLD_SECONDS = 20;
/** A new member reads a page of history and the data of `welcome`. */
const ROWS_READ_PER_CONNECT = 60;
/** The bytes of a message in the log besides its text. */
const STORED_BYTES_PER_MESSAGE = 130;
/** For a CONNECT in a shard: one with its request, one back with the decision, and one with the shard's size when it comes and when it goes. */
const SHARD_CALLS_PER_CONNECT = 4;
/** A shard's own rows; and those of its room while it fills, one for each tenth and one for the beginning. */
const ROWS_PER_SHARD = 2 + 11;
/** Awake for an alarm that is set, for a connect, and for a report. */
const [ALARM_SECONDS, CONNECT_SECONDS, REPORTING_SECONDS] = [0.25, 0.3, 0.02];
const DAYS_PER_MONTH = 30;
const GB = 1e9;

export interface Usage {
  /** Connected at once, while they are online. */
  readonly users: number;
  readonly rooms: number;
  readonly messagesPerUserMinute: number;
  /** Hours of a day in which all users are connected. */
  readonly onlineHours: number;
  readonly connectsPerUserDay: number;
  /** Users with Parley's own client, whose heartbeats wake no room. Rooms ping the others. */
  readonly shimShare: number;
  /** Users that long-poll: a poll that waits keeps its room awake. */
  readonly pollingShare: number;
  readonly payloadBytes: number;
  readonly historyDays: number;
  /** How long a room works on a frame. */
  readonly handlerMs: number;
  /** The setting MAX_MEMBERS: a room with more people has shards. */
  readonly maxMembers: number;
  /** As a load test counted them; the bound below if absent. */
  readonly rowsPerMessage?: number;
}

export const USUAL: Usage = {
  users: 10_000,
  rooms: 200,
  messagesPerUserMinute: 1.5,
  onlineHours: 8,
  connectsPerUserDay: 3,
  shimShare: 0,
  pollingShare: 0,
  payloadBytes: 100,
  historyDays: 30,
  handlerMs: 5,
  maxMembers: 5000,
};

/** What a month has of all that is billed. */
export interface Quantities {
  readonly posts: number;
  readonly upgrades: number;
  readonly polls: number;
  readonly framesIn: number;
  /** Answered without waking a room; Cloudflare does not say whether they are billed as frames, so they are. */
  readonly heartbeats: number;
  readonly alarms: number;
  /** Calls of rooms to their directory. */
  readonly roomReports: number;
  /** Calls between rooms and their shards, as far as each is billed: batches that follow each other closely share an RPC session. */
  readonly shardCalls: number;
  /** Alarms, which are rows when they are set, not among them. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly awakeSeconds: number;
  readonly storedGb: number;
}

/** At most a row per message, and at most one per window: messages of a window share it, up to 64 of them. */
export function rowsPerMessage(postsPerSecond: number, connections: number): number {
  const { windowMs } = batchRate(connections, FLUSH);
  return Math.max(1 / BATCH_POSTS_MAX, Math.min(1, 1000 / windowMs / postsPerSecond));
}

/** How many shards a room has; it fills up itself first. */
export const shardsOf = ({ users, rooms, maxMembers }: Usage): number =>
  Math.max(0, Math.ceil(users / rooms / maxMembers) - 1);

/** The chance that at least one of the people of a room is of a kind. */
const anyOf = (share: number, people: number): number => 1 - (1 - share) ** people;

/** @param usage with rooms that have users: empty ones cost nothing */
export function quantitiesOf(usage: Usage): Quantities {
  const { users, rooms, pollingShare, handlerMs, payloadBytes } = usage;
  const people = users / rooms;
  const onlineSeconds = usage.onlineHours * 3600 * DAYS_PER_MONTH;
  const roomSeconds = rooms * onlineSeconds;
  const posts = (users * onlineSeconds * usage.messagesPerUserMinute) / 60;
  const connects = users * usage.connectsPerUserDay * DAYS_PER_MONTH;
  const perSecond = roomSeconds === 0 ? 0 : posts / roomSeconds;
  const commits = posts * (usage.rowsPerMessage ?? rowsPerMessage(perSecond, people));
  const windowSeconds = batchRate(people, FLUSH).windowMs / 1000;

  const shards = shardsOf(usage);
  /** The share of the users. */
  const inShards = shards / (1 + shards);
  // A shard stays awake for a second after a batch, and then stores its place.
  const shardQuiet = Math.exp(-perSecond);
  const shardRows = rooms * shards * ROWS_PER_SHARD + commits * shards * shardQuiet;
  const shardSeconds = roomSeconds * shards * (1 - shardQuiet);
  const { follows, heldSeconds } = sessionsOf(perSecond, windowSeconds, shards);

  // A room and its shards ping and hold polls each by itself.
  const objectSeconds = roomSeconds * (1 + shards);
  const isPolled = anyOf(pollingShare, people);
  const isPinged = anyOf(Math.max(0, 1 - usage.shimShare), people);
  const changes = posts + connects * 2;
  const reports = changes === 0 ? 0 : Math.max(rooms, roomSeconds / (REPORT_SECONDS + roomSeconds / changes));
  const alarms =
    (objectSeconds * isPinged) / PING_SECONDS +
    (objectSeconds * isPolled) / POLL_HOLD_SECONDS +
    // The room handles members that leave at the same moment once, and no more often than that.
    LEAVE_ALARMS * Math.min(connects, roomSeconds) +
    // Where the room pings it is awake anyway, and needs none.
    (1 - isPinged) * reports * ALARMS_PER_REPORT;
  const beats = (users * onlineSeconds) / PING_SECONDS;
  const frames = (posts + connects) * (1 - pollingShare);
  const worked =
    ((posts + connects) * handlerMs) / 1000 +
    (commits * windowSeconds * (1 - Math.exp(-perSecond * windowSeconds))) / 2 +
    commits * follows * heldSeconds +
    connects * CONNECT_SECONDS +
    alarms * ALARM_SECONDS +
    reports * REPORTING_SECONDS;
  const lobbyRows = Math.min(reports, Math.ceil(rooms / ROOMS_PER_LOBBY_ROW) * (onlineSeconds / REPORT_SECONDS));
  const kept = posts * (usage.historyDays / DAYS_PER_MONTH);
  return {
    posts,
    upgrades: connects * (1 - pollingShare),
    // A GET per batch or after 20 s without one; a POST per message; both for each heartbeat.
    polls: pollingShare * (onlineSeconds * users * pollsPerSecond(commits / (roomSeconds || 1)) + posts + 2 * beats),
    framesIn: frames,
    heartbeats: beats * (1 - pollingShare),
    alarms,
    roomReports: reports,
    // The second of two batches that follow each other closely begins the session, and the third is the first that is free.
    shardCalls: commits * shards * (1 - follows ** 2) + inShards * (connects * SHARD_CALLS_PER_CONNECT + posts),
    rowsWritten: commits + rooms * (FIRST_VISIT_ROWS + FIRST_MESSAGE_ROWS) + lobbyRows + shardRows,
    rowsRead: connects * ROWS_READ_PER_CONNECT,
    awakeSeconds: (Math.min(roomSeconds, worked) + shardSeconds) * (1 - isPolled) + objectSeconds * isPolled,
    storedGb: (kept * (payloadBytes + STORED_BYTES_PER_MESSAGE)) / GB,
  };
}

/**
 * The sessions of a room with its shards, where posts come independently, and batches a window apart at least.
 * @returns the chance that a batch comes while those of the last one are held, and how long the room waits for it
 */
function sessionsOf(
  postsPerSecond: number,
  windowSeconds: number,
  shards: number,
): { readonly follows: number; readonly heldSeconds: number } {
  const seconds = holdMs(Math.min(shards, FAN_OUT)) / 1000;
  if (seconds < windowSeconds || postsPerSecond === 0) return { follows: 0, heldSeconds: 0 };
  const noneIn = (span: number): number => Math.exp(-postsPerSecond * span);
  const heldSeconds = windowSeconds + (noneIn(windowSeconds) - noneIn(seconds)) / postsPerSecond;
  return { follows: 1 - noneIn(seconds), heldSeconds };
}

function pollsPerSecond(commitsPerSecond: number): number {
  if (commitsPerSecond === 0) return 1 / POLL_HOLD_SECONDS;
  return commitsPerSecond / (1 - Math.exp(-commitsPerSecond * POLL_HOLD_SECONDS));
}

export interface BillLine {
  readonly item: string;
  readonly quantity: number;
  readonly unit: string;
  /** Of these the plan includes so many. */
  readonly included: number;
  readonly dollars: number;
}

export function billOf(quantities: Quantities): { readonly lines: readonly BillLine[]; readonly total: number } {
  const { upgrades, polls, framesIn, heartbeats, alarms, roomReports, shardCalls } = quantities;
  const frames = (framesIn + heartbeats) / PRICES.messagesPerRequest;
  const requests = upgrades + polls + frames + alarms + roomReports + shardCalls;
  const line = (item: string, unit: string, quantity: number, included: number, perMillion: number): BillLine => ({
    item,
    unit,
    quantity,
    included,
    dollars: (Math.max(0, quantity - included) * perMillion) / 1e6,
  });
  const gbSeconds = quantities.awakeSeconds * PRICES.objectGb;
  const written = quantities.rowsWritten + alarms;
  const lines = [
    { item: "Workers Paid plan", unit: "month", quantity: 1, included: 0, dollars: PLAN.month },
    line("requests to objects", "requests", requests, PLAN.requests, PRICES.perMillionRequests),
    line("objects at work", "GB-s", gbSeconds, PLAN.gbSeconds, PRICES.perMillionGbSeconds),
    line("rows written, alarms set", "rows", written, PLAN.rowsWritten, PRICES.perMillionRowsWritten),
    line("rows read", "rows", quantities.rowsRead, PLAN.rowsRead, PER_MILLION_ROWS_READ),
    line("stored in objects", "GB", quantities.storedGb, PLAN.storedGb, PER_STORED_GB * 1e6),
    line("requests to the Worker", "requests", upgrades + polls, PLAN.workerRequests, PER_MILLION_WORKER_REQUESTS),
  ];
  return { lines, total: lines.reduce((sum, { dollars }) => sum + dollars, 0) };
}
