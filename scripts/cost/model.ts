// Computes the billable events of a workload from the costs per action in docs/cost.md. Pure; tests compare it with rooms in
// workerd.
import { batchRate } from "../../src/chat/posting/batch-rate.ts";
import { commitsOf, type Commits } from "./commits.ts";
import { shardEvents, shardsOf } from "./shards.ts";

/** A room that is busy in `relaxed` stores once a second. */
const RELAXED_ROWS_PER_SECOND = 1;
const RELAXED_BUSY_COMMITS_PER_SECOND = 3;
/** A new room names its log, and stores the version of its data. */
export const FIRST_VISIT_ROWS = 4;
/** The first message of a room lays out its log: so many rows besides its own. */
export const FIRST_MESSAGE_ROWS = 6;
/** A segment of the log begins and is forgotten. */
const SEGMENT_ROWS = 6;
const SEGMENTS_KEPT = 10;
/** Alarms of members that leave within a second: grace, and the postponed heartbeat. */
const LEAVE_ALARMS = 2;
/** From one report of a room that goes on to the next. */
export const REPORT_WINDOW_SECONDS_MIN = 5;
export const REPORT_WINDOW_SECONDS_MAX = 60;
export const ROOMS_PER_LOBBY_ROW = 256;
const LOBBY_SAVE_SECONDS = 60;
/** A poll waits this long at most, and its room with an alarm for that. */
export const POLL_HOLD_SECONDS = 20;
/** Read marks of all users who read meanwhile are stored together. */
const MARKS_SECONDS = 5;
/** A new member reads a page of history and the data of `welcome`. */
const ROWS_READ_PER_CONNECT = 60;
/** The bytes of a message in the log besides its text. */
const STORED_BYTES_PER_MESSAGE = 130;
/** The bytes of a message on the wire besides its text. */
export const WIRE_BYTES_PER_MESSAGE = 230;
/** Waiting awake until it is clear which alarm to set, and for the CONNECT behind an upgrade. */
export const ARM_SECONDS = 0.25;
const CONNECT_SECONDS = 0.3;
const REPORT_SECONDS = 0.02;

export const DAYS_PER_MONTH = 30;
const SECONDS_PER_HOUR = 3600;
/** A room sends one batch to its links in this time. */
const RELAY_WINDOW_MS = 1000;
const GB = 1e9;

export interface Workload {
  /** Connected at once, while they are online. */
  readonly users: number;
  readonly rooms: number;
  readonly messagesPerUserMinute: number;
  /** Hours of a day in which all users are connected. */
  readonly onlineHours: number;
  /** Connections that a user opens in a day. */
  readonly connectsPerUserDay: number;
  /** Users with this project's own client, whose heartbeats wake no room. Rooms ping the others. */
  readonly shimShare: number;
  /** Users that long-poll: a poll that waits keeps its room awake. */
  readonly pollingShare: number;
  readonly payloadBytes: number;
  readonly historyDays: number;
  readonly historyMessages: number;
  readonly flushWindowMs: number;
  readonly flushBurst: number;
  readonly pingIntervalSeconds: number;
  readonly durability: "strict" | "relaxed";
  /** How long a room works on a frame. */
  readonly handlerMs: number;
  /** `read` events of a user in a minute; their marks are stored. */
  readonly readsPerUserMinute: number;
  /** Other events, such as `typing`, which store nothing. */
  readonly eventsPerUserMinute: number;
  /** Messages that are passed on to another room through the queue. */
  readonly relayShare: number;
  readonly uploadsPerUserDay: number;
  readonly uploadBytes: number;
  /** The setting MAX_MEMBERS: a room with more people has shards. */
  readonly maxMembers: number;
}

export const WORKLOAD: Workload = {
  users: 10_000,
  rooms: 200,
  messagesPerUserMinute: 1.5,
  onlineHours: 8,
  connectsPerUserDay: 3,
  shimShare: 0,
  pollingShare: 0,
  payloadBytes: 100,
  historyDays: 30,
  historyMessages: 100_000,
  flushWindowMs: 50,
  flushBurst: 8,
  pingIntervalSeconds: 45,
  durability: "strict",
  handlerMs: 5,
  readsPerUserMinute: 0,
  eventsPerUserMinute: 0,
  relayShare: 0,
  uploadsPerUserDay: 0,
  uploadBytes: 200_000,
  maxMembers: 5000,
};

/** In a month. */
export interface Events {
  readonly posts: number;
  readonly deliveries: number;
  readonly commits: number;
  /** WebSocket upgrades, and requests of long-polling clients. */
  readonly upgrades: number;
  readonly polls: number;
  readonly framesIn: number;
  /** Answered without waking a room; whether they are billed as frames Cloudflare does not say, so they are. */
  readonly heartbeats: number;
  readonly alarms: number;
  readonly reports: number;
  /** Alarms, which are rows when they are set, not among them. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly awakeSeconds: number;
  readonly storedGb: number;
  readonly queueMessages: number;
  readonly uploads: number;
  readonly uploadedGb: number;
  /** Calls between rooms and their shards. */
  readonly shardCalls: number;
}

function commitsOfRoom(workload: Workload, postsPerSecond: number): Commits {
  const { durability, users, rooms } = workload;
  const commits = commitsOf(postsPerSecond, batchRate(users / rooms, workload));
  if (durability === "strict" || commits.perPost * postsPerSecond < RELAXED_BUSY_COMMITS_PER_SECOND) return commits;
  return { ...commits, perPost: RELAXED_ROWS_PER_SECOND / postsPerSecond };
}

/** The chance that at least one of the people of a room is of a kind. */
const anyOf = (share: number, people: number): number => 1 - (1 - share) ** people;

/** Counts occupied rooms only, at most one per user: the others do nothing. */
export function inhabited(workload: Workload): Workload {
  return { ...workload, rooms: Math.min(workload.rooms, workload.users) };
}

export function eventsOf(asked: Workload): Events {
  const workload = inhabited(asked);
  const { users, rooms, shimShare, pollingShare } = workload;
  const onlineSeconds = workload.onlineHours * SECONDS_PER_HOUR * DAYS_PER_MONTH;
  const userMinutes = (users * onlineSeconds) / 60;
  const peoplePerRoom = users / rooms;
  const posts = userMinutes * workload.messagesPerUserMinute;
  const postsPerSecond = onlineSeconds === 0 ? 0 : posts / onlineSeconds / rooms;
  const { perPost, waitSeconds } = commitsOfRoom(workload, postsPerSecond);
  const commits = posts * perPost;
  const connects = users * workload.connectsPerUserDay * DAYS_PER_MONTH;
  const roomSeconds = rooms * onlineSeconds;
  const stockShare = Math.max(0, 1 - shimShare);
  // The room handles members that leave at the same moment once, and no more often than that.
  const leaves = Math.min(connects, roomSeconds);
  const changes = posts + connects * 2;
  const reports = reportsOf(workload, roomSeconds, changes);
  const isPolled = anyOf(pollingShare, peoplePerRoom);
  const isPinged = anyOf(stockShare, peoplePerRoom);
  const shards = shardsOf(workload);
  const ofShards = shardEvents(workload, { shards, roomSeconds, commits, connects, posts });
  // A room and its shards ping and hold polls each by itself.
  const objectSeconds = roomSeconds * (1 + shards);
  const alarms =
    (objectSeconds * isPinged) / workload.pingIntervalSeconds +
    (objectSeconds * isPolled) / POLL_HOLD_SECONDS +
    LEAVE_ALARMS * leaves +
    (1 - isPinged) * reports * alarmsPerReport(roomSeconds === 0 ? 0 : changes / roomSeconds);
  const readMarks = marksOf(workload, roomSeconds, userMinutes);
  const polls = pollsOf(workload, onlineSeconds, commits / (roomSeconds || 1), posts);
  const frames =
    posts * (1 - pollingShare) + userMinutes * (workload.readsPerUserMinute + workload.eventsPerUserMinute);
  const relayed = posts * workload.relayShare;
  const relayFlushes =
    relayed * commitsOf(postsPerSecond * workload.relayShare, { windowMs: RELAY_WINDOW_MS, burst: 1 }).perPost;
  const uploads = users * workload.uploadsPerUserDay * DAYS_PER_MONTH;
  const worked =
    (frames + connects) * (workload.handlerMs / 1000) +
    commits * waitSeconds +
    connects * CONNECT_SECONDS +
    alarms * ARM_SECONDS +
    reports * REPORT_SECONDS;
  return {
    posts,
    deliveries: posts * peoplePerRoom,
    commits,
    upgrades: connects * (1 - pollingShare),
    polls,
    framesIn: frames + connects * (1 - pollingShare),
    heartbeats: (users * (1 - pollingShare) * onlineSeconds) / workload.pingIntervalSeconds,
    alarms,
    reports,
    rowsWritten:
      commits +
      rooms * (FIRST_VISIT_ROWS + FIRST_MESSAGE_ROWS) +
      segmentRows(workload, posts) +
      readMarks +
      2 * relayFlushes +
      lobbyRows(workload, onlineSeconds, reports) +
      ofShards.rows +
      (uploads > 0 ? rooms : 0),
    rowsRead: connects * ROWS_READ_PER_CONNECT,
    awakeSeconds: (Math.min(roomSeconds, worked) + ofShards.awakeSeconds) * (1 - isPolled) + objectSeconds * isPolled,
    storedGb: storedGbOf(workload, posts),
    queueMessages: relayFlushes,
    uploads,
    uploadedGb: (uploads * workload.uploadBytes) / GB,
    shardCalls: ofShards.calls,
  };
}

/** A room that goes on reports once a minute; a quiet one with each change. */
function reportsOf({ rooms }: Workload, roomSeconds: number, changes: number): number {
  if (changes === 0) return 0;
  const perSecond = 1 / (REPORT_WINDOW_SECONDS_MAX + roomSeconds / changes);
  return Math.max(rooms, roomSeconds * perSecond);
}

/**
 * In a room without server pings. Changes within a window are reported at its end, by an alarm if nothing else wakes the room;
 * if nothing happens for a moment after a report, another alarm was set for the far future.
 */
function alarmsPerReport(changesPerSecond: number): number {
  const isGoingOn = changesPerSecond * REPORT_WINDOW_SECONDS_MAX * 2 > 1;
  const window = isGoingOn ? REPORT_WINDOW_SECONDS_MAX : REPORT_WINDOW_SECONDS_MIN;
  return (1 - Math.exp(-changesPerSecond * window)) * (1 + Math.exp(-changesPerSecond * ARM_SECONDS));
}

function lobbyRows({ rooms }: Workload, onlineSeconds: number, reports: number): number {
  const pages = Math.ceil(rooms / ROOMS_PER_LOBBY_ROW);
  return Math.min(reports, pages * (onlineSeconds / LOBBY_SAVE_SECONDS));
}

function marksOf({ readsPerUserMinute }: Workload, roomSeconds: number, userMinutes: number): number {
  const reads = userMinutes * readsPerUserMinute;
  if (reads === 0) return 0;
  const perSecond = reads / roomSeconds;
  const readers = perSecond * MARKS_SECONDS;
  return (roomSeconds / (MARKS_SECONDS + 1 / perSecond)) * Math.ceil(readers / 256);
}

/** A GET per batch that the room sends or where none comes for long, and for each heartbeat; a POST per message and per answer to one. */
function pollsOf(workload: Workload, onlineSeconds: number, commitsPerSecond: number, posts: number): number {
  const pollers = workload.users * workload.pollingShare;
  const heldPerSecond =
    commitsPerSecond === 0
      ? 1 / POLL_HOLD_SECONDS
      : commitsPerSecond / (1 - Math.exp(-commitsPerSecond * POLL_HOLD_SECONDS));
  const gets = pollers * onlineSeconds * (heldPerSecond + 1 / workload.pingIntervalSeconds);
  const answers = (pollers * onlineSeconds) / workload.pingIntervalSeconds;
  return gets + answers + posts * workload.pollingShare;
}

function segmentRows({ historyMessages, rooms }: Workload, posts: number): number {
  const perSegment = historyMessages / SEGMENTS_KEPT;
  return posts / rooms < perSegment ? 0 : (posts / perSegment) * SEGMENT_ROWS;
}

function storedGbOf({ historyDays, historyMessages, rooms, payloadBytes }: Workload, posts: number): number {
  const kept = Math.min((posts * historyDays) / DAYS_PER_MONTH, rooms * historyMessages);
  return (kept * (payloadBytes + STORED_BYTES_PER_MESSAGE)) / GB;
}
