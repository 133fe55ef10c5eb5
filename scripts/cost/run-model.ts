// Predicts the server's counters of a load test: simulates each room on a clock of its own, with members that connect, post
// and are pinged. Pure; the same run gives the same prediction.
import { batchRate } from "../../src/chat/posting/batch-rate.ts";
import { commitsOf } from "./commits.ts";
import {
  ARM_SECONDS,
  FIRST_MESSAGE_ROWS,
  FIRST_VISIT_ROWS,
  POLL_HOLD_SECONDS,
  REPORT_WINDOW_SECONDS_MAX,
  REPORT_WINDOW_SECONDS_MIN,
  ROOMS_PER_LOBBY_ROW,
  type Events,
} from "./model.ts";

/** The load test as the model needs it. */
export interface RunFacts {
  /** The members that connected. */
  readonly connects: number;
  readonly rooms: number;
  /** The parts of them that use this project's protocol extensions, and long-polling. */
  readonly shimShare: number;
  readonly pollingShare: number;
  /** That were acked. */
  readonly posts: number;
  /** Seconds since the first connect: the last member connected, posting began and ended, and the counters were read. */
  readonly connectedAt: number;
  readonly postingFrom: number;
  readonly postingTo: number;
  readonly askedAt: number;
  readonly flushWindowMs: number;
  readonly flushBurst: number;
  readonly pingIntervalSeconds: number;
}

export type RunEvents = Pick<
  Events,
  "posts" | "commits" | "upgrades" | "framesIn" | "heartbeats" | "alarms" | "reports" | "rowsWritten"
>;

/** The prediction. */
export interface Predicted {
  readonly events: RunEvents;
  /** Standard deviation over all rooms, which ping and report at moments of their own. */
  readonly spread: RunEvents;
}

const NOTHING: RunEvents = {
  posts: 0,
  commits: 0,
  upgrades: 0,
  framesIn: 0,
  heartbeats: 0,
  alarms: 0,
  reports: 0,
  rowsWritten: 0,
};

/** How long a report that is owed waits for something else to wake the room. */
const PATIENCE_SECONDS = 45;
/** Pings due within this share of the interval go out together with the first one. */
const ALIGNMENT = 0.5;
/** An alarm that is set for a second earlier at most will do. */
const ARMED_EARLY_SECONDS = 1;
/** A room with clients of ours looks for dead ones at some moment of such an interval, half of one ahead at least. */
const REAP_SECONDS = 1800;
/** A lobby stores the first report after quiet at once, and later ones at windows that double up to the longest. */
const SAVE_SECONDS_MIN = 1;
const SAVE_SECONDS_MAX = 60;
/** Lives of rooms that are lived through, and fewer of rooms where so much goes on that it would take long. */
const LIVES_MAX = 400;
const LIVES_MIN = 4;
const DEEDS_MAX = 2_000_000;

/** In rooms that are new: as far as the server can know when it is asked, which is up to each room's last report. */
export function predict(run: RunFacts): Predicted {
  const { posts, connects, pollingShare } = run;
  // A room without members costs nothing.
  const rooms = Math.min(run.rooms, connects);
  if (rooms === 0) return { events: NOTHING, spread: NOTHING };
  const postsPerSecond = posts / rooms / Math.max(1e-3, run.postingTo - run.postingFrom);
  const commits = posts * commitsOf(postsPerSecond, batchRate(connects / rooms, run)).perPost;
  const spoken = rooms * (1 - Math.exp(-posts / rooms));
  const deedsPerRoom = (posts + connects) / rooms;
  const tried = Math.max(LIVES_MIN, Math.min(LIVES_MAX, Math.floor(DEEDS_MAX / (1 + deedsPerRoom))));
  const random = evenly();
  const lives = Array.from({ length: tried }, (_, number) =>
    new RoomLife({ ...run, rooms }, number / tried, random).live(),
  );
  const ofRooms = (count: (life: RoomLife) => number): Estimate => estimate(lives.map(count), rooms);
  const [heartbeats, alarms] = [ofRooms((life) => life.heartbeats), ofRooms((life) => life.alarmsTold)];
  const reports = ofRooms((life) => life.reports);
  const saves = Math.min(reports.sum, Math.ceil(rooms / ROOMS_PER_LOBBY_ROW) * savesWithin(run.postingTo));
  const events = {
    posts,
    commits,
    upgrades: connects,
    framesIn: (posts + connects) * (1 - pollingShare),
    heartbeats: heartbeats.sum,
    alarms: alarms.sum,
    reports: reports.sum,
    rowsWritten: commits + rooms * FIRST_VISIT_ROWS + spoken * FIRST_MESSAGE_ROWS + saves,
  };
  const spread = { ...NOTHING, heartbeats: heartbeats.spread, alarms: alarms.spread, reports: reports.spread };
  return { events, spread };
}

interface Estimate {
  readonly sum: number;
  readonly spread: number;
}

/** Scales the events of some rooms to this number of rooms. */
function estimate(counts: readonly number[], rooms: number): Estimate {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
  return { sum: rooms * mean, spread: Math.sqrt(rooms * variance) };
}

/** Once at the beginning, then after windows that double. */
function savesWithin(seconds: number): number {
  let count = 1;
  for (
    let [at, window] = [SAVE_SECONDS_MIN, SAVE_SECONDS_MIN];
    at <= seconds;
    window = Math.min(SAVE_SECONDS_MAX, window * 2), at += window
  )
    count++;
  return count;
}

/** The same numbers each time, from 0 to 1. */
function evenly(): () => number {
  let state = 1;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

interface Person {
  readonly isPinged: boolean;
  readonly isPolling: boolean;
  readonly cameAt: number;
  pingedAt: number;
}

/** A room from its first connect on; its seconds are those of the run. */
class RoomLife {
  reports = 0;
  heartbeats = 0;
  /** Set before the last report, which is all that the server knows of. */
  alarmsTold = 0;
  readonly #run: RunFacts;
  readonly #people: Person[] = [];
  /** The actions of members, in order of time. */
  readonly #deeds: ReadonlyArray<{ readonly at: number; readonly comer?: Person }>;
  readonly #reapAt: number;
  /** How long the first one waits for the first ping. */
  readonly #beat: number;
  #alarmsSet = 0;
  #alarmAt: number | undefined;
  #armAt: number | undefined;
  #pingAt: number | undefined;
  /** When the poll that has waited longest has waited long enough. */
  #pollAt: number | undefined;
  #reportedAt = -Infinity;
  #deedAt = 0;
  #window = REPORT_WINDOW_SECONDS_MIN;
  #isOwed = false;
  #owedAt: number | undefined;

  /** @param place of the room among all, from 0 to 1: rooms fill up in turn */
  constructor(run: RunFacts, place: number, random: () => number) {
    this.#run = run;
    this.#beat = run.pingIntervalSeconds * (1 - ALIGNMENT * random());
    const { rooms, connects, connectedAt, postingFrom, postingTo, posts, shimShare, pollingShare } = run;
    const size = connects / rooms;
    const people = Array.from({ length: Math.max(1, Math.round(size)) }, (_, turn): Person => {
      const [kind, cameAt] = [random(), (connectedAt * Math.min(turn + place, size)) / size];
      const isPolling = kind >= shimShare && kind < shimShare + pollingShare;
      return { isPinged: kind >= shimShare, isPolling, cameAt, pingedAt: cameAt };
    });
    const ours = people.filter(({ isPinged }) => !isPinged);
    for (const { cameAt } of ours)
      this.heartbeats += Math.floor(Math.max(0, postingTo - cameAt) / run.pingIntervalSeconds);
    this.#reapAt = ours.length > 0 ? REAP_SECONDS * (0.5 + random()) : Infinity;
    const comings = people.map((comer) => ({ at: comer.cameAt, comer }));
    const pause = (): number => (-Math.log(1 - random()) * rooms * (postingTo - postingFrom)) / posts;
    const said: Array<{ at: number }> = [];
    for (let at = postingFrom + pause(); at <= postingTo; at += pause()) said.push({ at });
    this.#deeds = [...comings, ...said];
  }

  live(): this {
    for (const { at, comer } of this.#deeds) {
      this.#passUntil(at);
      if (at > this.#run.askedAt) return this;
      if (comer) this.#come(comer);
      this.#deedAt = at;
      this.#change(at);
      this.#look(at);
    }
    this.#passUntil(this.#run.askedAt);
    return this;
  }

  #come(comer: Person): void {
    this.#people.push(comer);
    if (comer.isPolling) this.#pollAt ??= comer.cameAt + POLL_HOLD_SECONDS;
    if (comer.isPinged) this.#pingAt ??= comer.cameAt + this.#beat;
  }

  #change(at: number): void {
    if (at >= this.#reportedAt + this.#window) return this.#report(at);
    this.#isOwed = true;
    this.#owedAt ??= Math.max(at, this.#reportedAt + this.#window) + PATIENCE_SECONDS;
  }

  #report(at: number): void {
    const isGoingOn = at - this.#reportedAt < 2 * this.#window;
    this.#window = isGoingOn ? Math.min(REPORT_WINDOW_SECONDS_MAX, 2 * this.#window) : REPORT_WINDOW_SECONDS_MIN;
    this.#reportedAt = at;
    this.#isOwed = false;
    this.#owedAt = undefined;
    this.reports++;
    this.alarmsTold = this.#alarmsSet;
  }

  // ---- its clock ---------------------------------------------------------------------------------------------

  #passUntil(untilAt: number): void {
    for (;;) {
      const at = Math.min(this.#armAt ?? Infinity, this.#alarmAt ?? Infinity);
      if (at > untilAt) return;
      if (at === this.#armAt) this.#arm();
      else this.#ring(at);
    }
  }

  get #nextAt(): number {
    return Math.min(this.#pingAt ?? Infinity, this.#pollAt ?? Infinity, this.#owedAt ?? Infinity, this.#reapAt);
  }

  get #isArmed(): boolean {
    const alarmAt = this.#alarmAt ?? Infinity;
    return alarmAt <= this.#nextAt && alarmAt > this.#nextAt - ARMED_EARLY_SECONDS;
  }

  /** After something happened: is the right alarm set? */
  #look(at: number): void {
    if (this.#nextAt < Infinity && !this.#isArmed) this.#armAt ??= at + ARM_SECONDS;
  }

  #arm(): void {
    this.#armAt = undefined;
    if (this.#nextAt === Infinity || this.#isArmed) return;
    this.#alarmAt = this.#nextAt;
    this.#alarmsSet++;
  }

  /** A due report goes out with any wake of the room. */
  #ring(at: number): void {
    this.#alarmAt = undefined;
    if (this.#isOwed && (at >= this.#reportedAt + this.#window || at >= this.#owedAt!)) this.#report(at);
    if (this.#pingAt !== undefined && at >= this.#pingAt) this.#ping(at);
    // Each message answers all polls, so the waiting ones have waited since then.
    if (this.#pollAt !== undefined && at >= this.#pollAt)
      this.#pollAt = (this.#deedAt + POLL_HOLD_SECONDS > at ? this.#deedAt : at) + POLL_HOLD_SECONDS;
    this.#arm();
  }

  #ping(at: number): void {
    const { pingIntervalSeconds, postingTo } = this.#run;
    const pinged = this.#people.filter(({ isPinged }) => isPinged);
    for (const person of pinged) {
      if (person.pingedAt + pingIntervalSeconds * (1 - ALIGNMENT) > at) continue;
      person.pingedAt = at;
      // A polling client answers with a request. After the last post nothing is counted.
      if (at <= postingTo && !person.isPolling) this.heartbeats++;
    }
    this.#pingAt = Math.min(...pinged.map(({ pingedAt }) => pingedAt + pingIntervalSeconds));
  }
}
