// The messages between the bench and its load generator: a job as JSON in, one JSON line with the result out.
import type { Faults } from "../accounting.ts";
import type { Wire } from "./member.ts";

export interface ServerFacts {
  readonly host: string;
  /** Members are spread over them in turn. */
  readonly ports: readonly number[];
  /** The roots of the server's process trees. */
  readonly pids: readonly number[];
  readonly wire: Wire;
  /** Signs a token for every member; absent where the server asks for none. */
  readonly jwtSecret?: string;
  /** Where it takes `POST {rooms | users, event, data}`; absent where nothing is announced. */
  readonly announcePath?: string;
  /** Where it takes `POST ?room=&shard=`, and kills that shard; absent where there are none. */
  readonly killPath?: string;
}

export interface Crowd {
  readonly rooms: number;
  readonly membersPerRoom: number;
  /** Members connect at this steady rate, in all rooms in turn; absent: one room after the other, as quickly as the server takes them. */
  readonly connectsPerSecond?: number;
}

/** Messages at a steady rate: every member posts in turn, at its own moment of the period. */
export interface TrafficJob extends Crowd {
  readonly kind: "traffic";
  readonly perMemberPerSecond: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Posts come evenly: where the period is much longer than the run, their number would be chance. */
  readonly isEven?: true;
}

/** The same in one room that is larger than an object. Afterwards one of its shards is killed; in one object as many connections break. */
export interface BigJob extends Omit<TrafficJob, "kind"> {
  readonly kind: "big";
  /** Stock clients get a frame per message, Parley's own one per batch. */
  readonly clients: "stock" | "own";
  /** Of the room, where the server has any. */
  readonly shards: number;
  /** Posting goes on for so long after the break. */
  readonly killSeconds: number;
}

/** One post at a time, to one room after the other: how long until its ack? */
export interface EchoJob extends Crowd {
  readonly kind: "echo";
  readonly pauseMs: number;
  readonly seconds: number;
}

/** Connected and silent. */
export interface IdleJob extends Crowd {
  readonly kind: "idle";
  /** Until sleeping rooms sleep. */
  readonly settleSeconds: number;
  readonly seconds: number;
  /** A folder whose databases are watched for commits; absent where nothing is stored. */
  readonly stateDir?: string;
}

/** All lines break at once, messages are missed, all come back at once. */
export interface StormJob extends Crowd {
  readonly kind: "storm";
  readonly missed: number;
  readonly awayMs: number;
}

/** One message to all members of many rooms, while others chat in rooms of their own. */
export interface FollowersJob extends Crowd {
  readonly kind: "followers";
  readonly addressed: "rooms" | "users";
  readonly announcements: number;
  readonly chat: Crowd & { readonly perMemberPerSecond: number };
  /** Of chat alone, before anything is announced. */
  readonly quietSeconds: number;
}

/** Players arrive at a steady rate, are matched, and type until the server is too slow: how many does it hold? */
export interface RaceJob {
  readonly kind: "race";
  readonly arrivalsPerSecond: number;
  /** From key to key of a player. */
  readonly keystrokeMs: number;
  /** The run ends when the p95 of the ping event is above this in three windows in a row. */
  readonly p95MsMax: number;
  /** The run ends then at the latest. */
  readonly seconds: number;
  /** Keystrokes within this time are shown together; with 0 each by itself. */
  readonly tickMs: number;
  /** How long the first player of a race waits for others. */
  readonly waitMs: number;
}

export type Job = (TrafficJob | BigJob | EchoJob | IdleJob | StormJob | FollowersJob | RaceJob) & {
  readonly server: ServerFacts;
};

/** The results of every job. */
export interface BaseReading {
  /** Share of one core, 0 to 1, in the measured interval. */
  readonly generatorBusy: number;
  readonly serverCpuSeconds: number;
  readonly wallSeconds: number;
  /** Faults by reason: closed connections, refused posts. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface TrafficReading extends BaseReading {
  readonly kind: "traffic";
  readonly deliveries: number;
  readonly offeredPerSecond: number;
  readonly posted: number;
  readonly unanswered: number;
  readonly faults: Faults;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly ackP50Ms: number;
  readonly ackP99Ms: number;
  /** From the last post to the last delivery. */
  readonly drainMs: number;
  /** The worst lateness of a post behind its plan, 99th percentile. */
  readonly lagP99Ms: number;
  /** The server's CPU time from the first connect until all members are settled. */
  readonly connectCpuSeconds: number;
  /** The server's memory after that, less the memory before the first connect. */
  readonly connectedBytes: number;
  readonly members: number;
}

export interface BigReading extends Omit<TrafficReading, "kind"> {
  readonly kind: "big";
  /** Members by the object that held them: the room first, then each shard. */
  readonly placed: readonly number[];
  readonly broken: BrokenPart;
}

/** A part of the connections that broke at once. */
export interface BrokenPart {
  readonly members: number;
  /** Of those the ones that recovered their session. */
  readonly recovered: number;
  /** From the break until all of them were connected again. */
  readonly backMs: number;
  /** Deliveries to all others, from the break to the end of the run. */
  readonly othersP99Ms: number;
}

export interface EchoReading extends BaseReading {
  readonly kind: "echo";
  readonly posts: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly faults: Faults;
}

export interface IdleReading extends BaseReading {
  readonly kind: "idle";
  readonly connectsPerSecond: number;
  readonly awakeBytesPerConnection: number;
  readonly asleepBytesPerConnection: number;
  readonly cpuSecondsPerMinute: number;
  /** Heartbeats that the server sent in the interval: a room that sends one is awake. */
  readonly pings: number;
  /** Databases that were written to in the interval. */
  readonly databasesWritten: number;
}

export interface StormReading extends BaseReading {
  readonly kind: "storm";
  /** From the first connect to the last member that is in and has everything. */
  readonly caughtUpMs: number;
  readonly joinedMs: number;
  readonly recovered: number;
  readonly faults: Faults;
}

export interface FollowersReading extends BaseReading {
  readonly kind: "followers";
  /** From the call to a follower, over all announcements but the first. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** From the call to the last follower, for each announcement; before the first one the server had not located the users. */
  readonly lastMs: readonly number[];
  /** From the call to its answer, for each announcement. */
  readonly answeredMs: readonly number[];
  /** The server's own answer to each, if it has one: users or rooms that it did not find. */
  readonly absent: readonly number[];
  readonly faults: Faults;
  readonly chatFaults: Faults;
  readonly chatP50Ms: { readonly before: number; readonly during: number };
  readonly chatP99Ms: { readonly before: number; readonly during: number };
  /** The server's CPU time above that of the chat alone. */
  readonly cpuMsPerAnnouncement: number;
}

/** Two seconds of a race. */
export interface RaceWindow {
  /** At its end. */
  readonly clients: number;
  /** Of the ping event, there and back; one without an answer counts as long as it has waited. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** From a player's keystroke to the progress that shows it to the same player. */
  readonly keystrokeP95Ms: number;
  readonly keystrokes: number;
  /** Frames of progress that arrived. */
  readonly deliveries: number;
  /** Shares of one core, 0 to 1. */
  readonly serverBusy: number;
  readonly generatorBusy: number;
  readonly residentBytes: number;
}

export interface RaceReading extends BaseReading {
  readonly kind: "race";
  readonly windows: readonly RaceWindow[];
  /** The last window in which the server was quick enough. */
  readonly held: RaceWindow;
  /** The server was too slow, the generator had no time left, or the time was over: then the server holds more. */
  readonly endedBy: "server" | "generator" | "time";
  /** Memory before the first client. */
  readonly emptyBytes: number;
  /** Races that came to their end, counted at each player. */
  readonly finishes: number;
  /** Keystrokes that came to the server too late, many at once. */
  readonly refusals: number;
}

export type Reading =
  | TrafficReading
  | BigReading
  | EchoReading
  | IdleReading
  | StormReading
  | FollowersReading
  | RaceReading;
