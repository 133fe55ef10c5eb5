// The way from a shard to its room: gathers CONNECTs and requests of members while a call is under way, and sends them with the next one.
// The room answers among the chunks of its stream (receiver.ts). Rules: SHD-3, SHD-5. Made by shard-members.ts.
import { waitAfter } from "../clock/rates.ts";
import type { Deadline } from "../clock/deadlines.ts";
import type { Answer } from "../protocol/chat-events.ts";
import { UNDECIDED } from "../protocol/refuse.ts";
import type { JoinDecision, NamedFormer, ShardJoin, ShardReport, ShardRequest } from "../protocol/shards.ts";

/** The room has so long to answer. It may have died, and then it owes no answer any more. */
export const ANSWER_MS = 30_000;
/** Requests, and characters of their names and payloads, that wait for the next report at most: of all members, and of each one. */
const WAITING_MAX = { requests: 10_000, chars: 2_000_000 };
const OF_ONE_MAX = { requests: 250, chars: 250_000 };
/** Counts alone are reported at most this often. */
const REPORT_MS = 1000;
/** They wait longer where the room takes no reports. */
const RETRY = { first: REPORT_MS, max: 60_000 };

/** A CONNECT or a request that waits for its answer. */
interface Waiting {
  readonly sinceMs: number;
  /** Of a request: its connection. */
  readonly socket?: string;
  /** Whether a report names it. */
  isSent?: true;
  /** The run of the room that took it; absent while the report is under way. */
  by?: string;
  /** The room had its chance: gives up. */
  readonly fail: () => void;
  readonly answer?: (answer: Answer<object>) => void;
  readonly decide?: (decision: JoinDecision) => void;
}

export interface UplinkPorts {
  /** @returns the run of the room that took the report. @throws Error where none did, or it is not known */
  readonly report: (report: Omit<ShardReport, "shard">) => Promise<string>;
  /** Connections and users, and what else the room has to hear. */
  readonly facts: () => Pick<ShardReport, "sockets" | "users" | "typing" | "counts" | "epoch">;
  readonly now: () => number;
  readonly newId: () => string;
  readonly turn: <Result>(work: () => Result) => Result;
  readonly deadline: (name: string, run: (nowMs: number) => void, options: { keepsAwake: true }) => Deadline;
  readonly problem: (problem: string, error: unknown) => void;
}

export class Uplink {
  readonly #ports: UplinkPorts;
  readonly #waiting = new Map<string, Waiting>();
  /** Names this instance of the shard. */
  readonly #name: string;
  #number = 0;
  readonly #giveUp: Deadline;
  readonly #later: Deadline;
  #joins: ShardJoin[] = [];
  #requests: ShardRequest[] = [];
  /** Of which the room has not heard. */
  readonly #recovered = new Set<string>();
  /** What waits for the next report: of all members, and of each user. A user may have many connections. */
  #load = NO_LOAD;
  readonly #loads = new Map<string, Load>();
  #isReporting = false;
  #isOwed = false;
  #isStopped = false;
  #reportedAtMs = -Infinity;
  #failures = 0;

  constructor(ports: UplinkPorts) {
    this.#ports = ports;
    this.#name = ports.newId();
    this.#giveUp = ports.deadline("shard-answers", (nowMs) => this.#expire(nowMs), { keepsAwake: true });
    this.#later = ports.deadline("shard-report", () => this.#hurry(), { keepsAwake: true });
  }

  /** @param recovers the connection that the client wants to recover, where the shard lacks messages that it names */
  join(asked: Pick<ShardJoin, "identity" | "address">, recovers: NamedFormer | undefined): Promise<JoinDecision> {
    return new Promise((decide) => {
      const settle = (decision: JoinDecision): void => {
        decide(decision);
        // A report may have counted them.
        if (!decision.accepted) this.changed();
      };
      const id = this.#wait({ decide: settle, fail: () => settle(UNDECIDED) });
      this.#joins.push({ id, ...asked, ...(recovers && { recovers }) });
      this.#hurry();
    });
  }

  /**
   * @param fail called where it stays unknown whether the room carried the request out
   * @returns whether it was taken: a room that answers slowly gets no more than it can carry out soon
   */
  ask(request: Omit<ShardRequest, "id">, answer: (answer: Answer<object>) => void, fail: () => void): boolean {
    if (!this.#charge(request)) return false;
    this.#requests.push({ id: this.#wait({ socket: request.socket, answer, fail }), ...request });
    this.#hurry();
    return true;
  }

  /** @returns whether the request fits */
  #charge(request: Omit<ShardRequest, "id">): boolean {
    const all = grown(this.#load, request);
    const ofOne = grown(this.#loads.get(request.member.user) ?? NO_LOAD, request);
    if (isOver(all, WAITING_MAX) || (ofOne.requests > 1 && isOver(ofOne, OF_ONE_MAX))) return false;
    this.#count(request);
    return true;
  }

  #count(request: Omit<ShardRequest, "id">): void {
    const { user } = request.member;
    this.#load = grown(this.#load, request);
    this.#loads.set(user, grown(this.#loads.get(user) ?? NO_LOAD, request));
  }

  #forgetLoads(): void {
    this.#load = NO_LOAD;
    this.#loads.clear();
  }

  #wait(waiting: Omit<Waiting, "sinceMs" | "by">): string {
    const { now, newId } = this.#ports;
    const id = newId();
    this.#waiting.set(id, { sinceMs: now(), ...waiting });
    this.#giveUp.pull(now() + ANSWER_MS);
    return id;
  }

  /** A connection was recovered. The next report names it, because another object may still hold the former one. */
  recovered(socket: string): void {
    this.#recovered.add(socket);
  }

  /** A connection ended. Its client may have come back to the object that held the former one, which stays open then. */
  ended(socket: string): void {
    this.#recovered.delete(socket);
  }

  /** The counts are other ones now. */
  changed(): void {
    if (this.#isStopped) return;
    const { now } = this.#ports;
    this.#later.pull(Math.max(now(), Math.min(this.#reportedAtMs, now()) + REPORT_MS));
  }

  answered(id: string, answer: Answer<object>): void {
    this.#take(id)?.answer?.(answer);
  }

  decided(id: string, decision: JoinDecision): void {
    this.#take(id)?.decide?.(decision);
  }

  /** The room is in another run now, which knows nothing of what earlier ones were asked. */
  forgottenBut(runId: string): void {
    const asked = [...this.#waiting].filter(([, { by }]) => by !== undefined && by !== runId);
    this.#fail(asked.map(([id]) => id));
  }

  /** Answers were lost on their way: which ones is not known. */
  loseAnswers(): void {
    this.#fail([...this.#waiting].flatMap(([id, { isSent }]) => (isSent ? id : [])));
  }

  /** The shard was erased: reports nothing any more, and waits for no answer. Another uplink reports in its place. */
  stop(): void {
    this.#isStopped = true;
    this.#fail([...this.#waiting.keys()]);
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#giveUp.clear();
    return waiting;
  }

  /** With a request fail all of its connection, which is closed: a later one must not be carried out before it is said again. */
  #fail(ids: readonly string[]): void {
    const sockets = new Set(ids.flatMap((id) => this.#waiting.get(id)?.socket ?? []));
    const failing = [...this.#waiting].filter(([, { socket }]) => socket !== undefined && sockets.has(socket));
    this.#requests = this.#requests.filter(({ socket }) => !sockets.has(socket));
    this.#forgetLoads();
    for (const request of this.#requests) this.#count(request);
    this.#ports.turn(() => {
      for (const id of [...ids, ...failing.map(([each]) => each)]) this.#take(id)?.fail();
    });
  }

  #mark(asked: ReadonlyArray<{ readonly id: string }>, mark: Pick<Waiting, "isSent" | "by">): void {
    // Those that were answered meanwhile are not there any more.
    for (const { id } of asked) Object.assign(this.#waiting.get(id) ?? {}, mark);
  }

  /** Names the run of the room that owes an answer to an earlier request of the same connection, where one does. */
  #withDebts(requests: readonly ShardRequest[]): ShardRequest[] {
    const owed = new Map<string | undefined, string>();
    for (const { socket, by } of this.#waiting.values()) if (by !== undefined) owed.set(socket, by);
    return requests.map((request) => {
      const owedBy = owed.get(request.socket);
      return owedBy === undefined ? request : { ...request, owedBy };
    });
  }

  #expire(nowMs: number): void {
    const over = [...this.#waiting].filter(([, { sinceMs }]) => sinceMs + ANSWER_MS <= nowMs);
    this.#fail(over.map(([id]) => id));
    const [oldest] = this.#waiting.values();
    if (oldest) this.#giveUp.set(oldest.sinceMs + ANSWER_MS);
  }

  #hurry(): void {
    this.#isOwed = true;
    if (!this.#isReporting && !this.#isStopped) void this.#report();
  }

  /** Connections and users: CONNECTs of earlier reports count until they are decided, because the room lets them in before the shard does. */
  #facts(): ReturnType<UplinkPorts["facts"]> {
    const facts = this.#ports.facts();
    let undecided = 0;
    for (const { decide, isSent } of this.#waiting.values()) if (decide && isSent) undecided++;
    return { ...facts, sockets: facts.sockets + undecided, users: facts.users + undecided };
  }

  async #report(): Promise<void> {
    this.#isReporting = true;
    while (this.#isOwed && !this.#isStopped) {
      const [joins, requests, recovered] = [this.#joins, this.#requests, [...this.#recovered]];
      const facts = this.#facts();
      [this.#joins, this.#requests] = [[], []];
      this.#isOwed = false;
      this.#forgetLoads();
      this.#later.clear();
      this.#reportedAtMs = this.#ports.now();
      this.#mark([...joins, ...requests], { isSent: true });
      try {
        const named = { from: this.#name, number: this.#number++, requests: this.#withDebts(requests) };
        const by = await this.#ports.report({ ...named, ...facts, joins, recovered });
        this.#failures = 0;
        for (const socket of recovered) this.#recovered.delete(socket);
        this.#mark([...joins, ...requests], { by });
        // The room counts those whom it lets in until it knows better.
        if (joins.length > 0) this.changed();
      } catch (error) {
        this.#ports.problem("the room took no report", error);
        this.#fail([...joins, ...requests].map(({ id }) => id));
        this.#later.pull(this.#ports.now() + waitAfter(RETRY, ++this.#failures));
      }
    }
    this.#isReporting = false;
  }
}

/** Requests, and characters of their names and payloads. */
interface Load {
  readonly requests: number;
  readonly chars: number;
}

const NO_LOAD: Load = { requests: 0, chars: 0 };

const grown = ({ requests, chars }: Load, { event, given = "" }: Pick<ShardRequest, "event" | "given">): Load => ({
  requests: requests + 1,
  chars: chars + event.length + given.length,
});

const isOver = (load: Load, max: Load): boolean => load.requests > max.requests || load.chars > max.chars;
