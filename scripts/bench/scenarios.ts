// The scenarios of the bench: the runs of each, at full size and for a quick look.
import type { BigJob, EchoJob, FollowersJob, IdleJob, RaceJob, StormJob, TrafficJob } from "./load/job.ts";

export interface EmitsJob {
  readonly kind: "emits";
  readonly count: number;
  readonly chars: number;
}

export type LoadJob = TrafficJob | BigJob | EchoJob | IdleJob | StormJob | FollowersJob | RaceJob;

export interface Run {
  readonly label: string;
  readonly job: LoadJob | EmitsJob;
  /** Whether a peer that cannot hold the offered rate is tried at lower ones. */
  readonly searchesRate?: true;
}

export interface Scenario {
  readonly name: string;
  readonly question: string;
  readonly peers: readonly string[];
  /** Some peers are measured once only: their results hardly vary, and a run takes minutes. */
  readonly roundsMax?: number;
  readonly runs: readonly Run[];
}

const CHAT_PEERS = ["socketio-ws", "parley", "parley-shim", "socketio-bun", "socketio-redis", "ws"];
const CROWD_PEERS = [...CHAT_PEERS, "bare-object", "bare-batches"];
const RECOVERING_PEERS = ["socketio-ws", "parley", "parley-shim", "socketio-bun"];
const IDLE_PEERS = ["socketio-ws", "parley", "parley-shim", "bare-object", "socketio-bun", "ws"];
const EMITTERS = ["socketio-ws", "parley", "parley-stored", "parley-relayed", "socketio-redis"];

const ANNOUNCERS = ["parley-queue", "parley-direct", "plain-rpc", "socketio-ws", "socketio-redis"];

const BIG_PEERS = ["one-object", "shards"];

const RACERS = ["socketio-ws", "socketio-bun", "parley"];

const EMIT_CHARS = 350;
const MEMBERS_PER_IDLE_ROOM = 100;

type Times = Pick<TrafficJob, "warmUpSeconds" | "seconds">;

/** V8 compiles what runs often during the first ten seconds, longer at few posts. A server that runs for months is past that. */
const FULL: Times = { warmUpSeconds: 10, seconds: 10 };
const QUICK: Times = { warmUpSeconds: 3, seconds: 4 };

export function scenarios(isQuick: boolean): readonly Scenario[] {
  return [
    {
      name: "busy",
      question: "one room, everybody talks",
      peers: CROWD_PEERS,
      runs: isQuick
        ? [busy(100, 1, QUICK), busy(500, 1, QUICK)]
        : [busy(100, 1, FULL), busy(500, 1, FULL), busy(1000, 0.5, FULL)],
    },
    {
      name: "rooms",
      question: "many quiet rooms",
      peers: CROWD_PEERS,
      runs: [isQuick ? rooms(40, QUICK) : rooms(100, FULL)],
    },
    {
      name: "quiet",
      question: "rooms with a post now and then",
      peers: CROWD_PEERS,
      runs: [isQuick ? quiet(40, QUICK) : quiet(80, { warmUpSeconds: 20, seconds: 30 })],
    },
    { name: "echo", question: "post to ack, little going on", peers: CHAT_PEERS, runs: [echo(isQuick ? 3 : 8)] },
    {
      name: "storm",
      question: "all lines break, all come back",
      peers: RECOVERING_PEERS,
      runs: [storm(isQuick ? 500 : 2000)],
    },
    {
      name: "idle",
      question: "connected and silent",
      peers: IDLE_PEERS,
      roundsMax: 1,
      runs: isQuick ? [idle(500, 5)] : [idle(1000, 10), idle(5000, 10), idle(10_000, 60)],
    },
    {
      name: "sleep",
      question: "ten minutes of silence: wakes and writes",
      peers: ["parley-shim"],
      roundsMax: 1,
      runs: [sleep(isQuick ? 200 : 1000, isQuick ? 20 : 600)],
    },
    {
      name: "emits",
      question: "emits to an empty room",
      peers: EMITTERS,
      runs: [emits(isQuick ? 100_000 : 1_000_000)],
    },
    {
      name: "followers",
      question: "one message to everybody in many rooms",
      peers: ANNOUNCERS,
      runs: isQuick
        ? [followers(400, 40, "users")]
        : [
            followers(4000, 400, "users"),
            followers(4000, 40, "users"),
            followers(4000, 400, "rooms"),
            followers(4000, 40, "rooms"),
          ],
    },
    {
      name: "big",
      question: "one room in one object, and spread over shards; then a ninth of the connections breaks",
      peers: BIG_PEERS,
      runs: isQuick ? [big(450, 20, "stock", 3)] : [big(9000, 2, "stock", 20), big(9000, 10, "own", 20)],
    },
    {
      name: "race",
      question: "a typing race: clients held while the p95 of a ping event is at most 50 ms",
      peers: RACERS,
      roundsMax: 1,
      runs: [race(0, isQuick), race(RACE_TICK_MS, isQuick)],
    },
  ];
}

function busy(membersPerRoom: number, perMemberPerSecond: number, times: Times): Run {
  const label = `busy ${membersPerRoom} × ${perMemberPerSecond}/s`;
  return {
    label,
    searchesRate: true,
    job: { kind: "traffic", rooms: 1, membersPerRoom, perMemberPerSecond, ...times },
  };
}

function rooms(count: number, times: Times): Run {
  const [membersPerRoom, perMemberPerSecond] = [50, 0.2];
  const label = `rooms ${count} × ${membersPerRoom} × ${perMemberPerSecond}/s`;
  return {
    label,
    searchesRate: true,
    job: { kind: "traffic", rooms: count, membersPerRoom, perMemberPerSecond, ...times },
  };
}

/** Members connect at a steady rate, as on a usual day, so that this measures a connect as well. */
function quiet(count: number, times: Times): Run {
  const [membersPerRoom, perMemberPerSecond] = [50, 0.05];
  return {
    label: `quiet ${count} × ${membersPerRoom} × ${perMemberPerSecond}/s`,
    job: {
      kind: "traffic",
      rooms: count,
      membersPerRoom,
      perMemberPerSecond,
      connectsPerSecond: 300,
      ...times,
    },
  };
}

function echo(seconds: number): Run {
  return { label: "echo", job: { kind: "echo", rooms: 30, membersPerRoom: 5, pauseMs: 5, seconds } };
}

function storm(membersPerRoom: number): Run {
  return {
    label: `storm ${membersPerRoom}`,
    job: { kind: "storm", rooms: 1, membersPerRoom, missed: 20, awayMs: 3000 },
  };
}

// A room sleeps 10 s after its last packet, and sets its alarm a moment before that.
const SETTLE_SECONDS = 14;
/** Waits until the lobby has stored the members, too. */
const SETTLE_LIST_SECONDS = 90;

function sleep(connections: number, seconds: number): Run {
  return idle(connections, seconds, { name: "sleep", settleSeconds: SETTLE_LIST_SECONDS });
}

function idle(
  connections: number,
  seconds: number,
  { name, settleSeconds } = { name: "idle", settleSeconds: SETTLE_SECONDS },
): Run {
  const rooms = connections / MEMBERS_PER_IDLE_ROOM;
  return {
    label: `${name} ${connections}`,
    job: { kind: "idle", rooms, membersPerRoom: MEMBERS_PER_IDLE_ROOM, settleSeconds, seconds },
  };
}

/** The room itself has as many members as each of eight shards. */
function big(members: number, perSecond: number, clients: BigJob["clients"], seconds: number): Run {
  return {
    label: `big ${members} × ${perSecond}/s in all, ${clients} clients`,
    job: {
      kind: "big",
      clients,
      rooms: 1,
      membersPerRoom: members,
      perMemberPerSecond: perSecond / members,
      shards: 8,
      isEven: true,
      warmUpSeconds: 5,
      seconds,
      killSeconds: seconds,
    },
  };
}

const RACE_TICK_MS = 100;

/** 60 words a minute. @param tickMs of the servers: keystrokes within it are shown together */
function race(tickMs: number, isQuick: boolean): Run {
  return {
    label: tickMs === 0 ? "race, each keystroke by itself" : `race, keystrokes of ${tickMs} ms together`,
    job: {
      kind: "race",
      arrivalsPerSecond: 30,
      keystrokeMs: 200,
      p95MsMax: 50,
      seconds: isQuick ? 14 : 110,
      tickMs,
      waitMs: 3000,
    },
  };
}

function emits(count: number): Run {
  return { label: `emits ${count}`, job: { kind: "emits", count, chars: EMIT_CHARS } };
}

/** While announcements run, ten rooms go on chatting: a post a second in each. */
function followers(count: number, rooms: number, addressed: FollowersJob["addressed"]): Run {
  return {
    label: `followers ${count} in ${rooms}, by ${addressed}`,
    job: {
      kind: "followers",
      addressed,
      rooms,
      membersPerRoom: count / rooms,
      announcements: 6,
      chat: { rooms: 10, membersPerRoom: 10, perMemberPerSecond: 0.1 },
      quietSeconds: 10,
    },
  };
}
