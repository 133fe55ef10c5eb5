// The RPC sessions in which an object calls its shards. The platform bills a session as one request, however many calls it has, but neither side
// sleeps while it lasts. So the object holds one while calls follow each other so closely that this costs less than a request for each. Made by
// streams.ts. Rule: SHD-14.
import { hasPassed } from "../clock/rates.ts";
import type { Deadline } from "../clock/deadlines.ts";
import { PRICES } from "../metrics/cost.ts";
import type { StreamAnswer, StreamCall } from "../protocol/shards.ts";
import { QUIET_MS } from "./replica.ts";

/** To keep an object awake for so long costs as much as a request. */
const REQUEST_MS = (1000 * PRICES.perMillionRequests) / (PRICES.perMillionGbSeconds * PRICES.objectGb);

/**
 * How long an object holds its sessions with so many shards after a call. A shard is awake for `QUIET_MS` anyway; the object itself is awake
 * for all its sessions at once, as long as that costs no more than they save.
 */
export const holdMs = (shards: number): number => Math.min(QUIET_MS, shards * REQUEST_MS);

/** The session that a call began. */
export interface Session {
  /** Makes a further call in it. */
  readonly send: (call: StreamCall) => Promise<StreamAnswer>;
  readonly end: () => void;
}

export interface SessionsPorts {
  /** @param holds asks the shard for a session; one of an earlier release gives none */
  readonly send: (
    shard: number,
    call: StreamCall,
    holds: boolean,
  ) => Promise<StreamAnswer & { readonly session?: Session }>;
  readonly now: () => number;
  readonly deadline: (name: string, run: (nowMs: number) => void, options: { keepsAwake: true }) => Deadline;
}

/** A shard that was called lately. */
interface Called {
  /** Absent while a call is under way. */
  answeredAtMs?: number;
  session?: Session | undefined;
}

export class Sessions {
  readonly #ports: SessionsPorts;
  readonly #called = new Map<number, Called>();
  #due: Deadline | undefined;
  #isStopped = false;

  constructor(ports: SessionsPorts) {
    this.#ports = ports;
  }

  /** Makes a call: to each shard one at a time. */
  async send(shard: number, call: StreamCall): Promise<StreamAnswer> {
    const { now, send } = this.#ports;
    const { answeredAtMs = -Infinity, session } = this.#called.get(shard) ?? {};
    const isBusy = !hasPassed(answeredAtMs, this.#holdMs, now());
    const called: Called = { session };
    this.#called.set(shard, called);
    try {
      if (session) return await session.send(call);
      const answer = await send(shard, call, isBusy);
      called.session = answer.session;
      return answer;
    } catch (error) {
      // The shard may have died, and the session with it. The next call finds the shard's next instance.
      end(called);
      throw error;
    } finally {
      called.answeredAtMs = now();
      this.#endQuiet(now());
    }
  }

  /** Ends all sessions, and holds none any more. */
  stop(): void {
    this.#isStopped = true;
    this.#endQuiet(this.#ports.now());
  }

  get #holdMs(): number {
    return this.#isStopped ? 0 : holdMs(this.#called.size);
  }

  #endQuiet(nowMs: number): void {
    const heldMs = this.#holdMs;
    let nextMs = Infinity;
    for (const [shard, called] of this.#called) {
      const { answeredAtMs, session } = called;
      if (answeredAtMs === undefined) continue;
      if (hasPassed(answeredAtMs, heldMs, nowMs)) end(called);
      else if (session) nextMs = Math.min(nextMs, answeredAtMs + heldMs);
      if (hasPassed(answeredAtMs, QUIET_MS, nowMs)) this.#called.delete(shard);
    }
    if (nextMs < Infinity) this.#wakeAt(nextMs);
    else this.#due?.clear();
  }

  #wakeAt(atMs: number): void {
    this.#due ??= this.#ports.deadline("shard-sessions", (nowMs) => this.#endQuiet(nowMs), { keepsAwake: true });
    this.#due.set(atMs);
  }
}

function end(called: Called): void {
  called.session?.end();
  called.session = undefined;
}
