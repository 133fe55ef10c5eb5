// Sends events from the server of one room to those of others: Socket.IO's serverSideEmit, where each room is a server. Events go
// directly from object to object, at most once; an application stores events that must arrive. Called by namespaces, and by server.ts
// with the events of other rooms.
import { ACK_AWAIT_MS_MAX } from "./acks.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { EventArgs, EventName, EventsMap } from "./events.ts";

/** `args` are plain data (structured clone). */
export interface ServerSideEvent {
  /** The room that sent it. */
  readonly from: string;
  readonly nsp: string;
  readonly event: string;
  readonly args: readonly unknown[];
}

/** The return value of the handler, or the reason why there is none. */
export type ServerSideAnswer =
  | { readonly ok: true; readonly answer: unknown }
  | { readonly ok: false; readonly reason: string };

/** The servers of other rooms. */
export interface OtherRooms {
  /** Whether there can be a room of that name. */
  isName(room: string): boolean;
  /** Passes the event on. Rejects if the room cannot be reached. */
  call(room: string, event: Omit<ServerSideEvent, "from">): Promise<ServerSideAnswer>;
}

/** The handlers of a namespace for events of other rooms; a handler returns the answer for `serverSideEmitWithAck`. */
export type ServerHandlers<Between extends EventsMap> = {
  readonly [Event in EventName<Between>]: (from: string, ...args: EventArgs<Between, Event>) => unknown;
};

/** Rooms that one call may reach: each is a request. */
export const SERVER_SIDE_ROOMS_MAX = 1000;

/** How long a call waits for answers, which keeps the object awake. */
export const SERVER_SIDE_WAIT_MS = ACK_AWAIT_MS_MAX;

interface Waiting {
  readonly dueMs: number;
  giveUp(): void;
}

export interface ServerSidePorts {
  readonly now: () => number;
  readonly report: (problem: string, error: unknown) => void;
  /** Runs `work` as a turn. */
  readonly turn: <Result>(work: () => Result) => Result;
}

export class ServerSide {
  readonly #ports: ServerSidePorts;
  readonly #others: OtherRooms | undefined;
  readonly #deadline: Deadline;
  readonly #waiting = new Set<Waiting>();

  constructor(deadlines: Deadlines, ports: ServerSidePorts, others: OtherRooms | undefined) {
    this.#ports = ports;
    this.#others = others;
    this.#deadline = deadlines.add("server-side answer", (nowMs) => this.#expire(nowMs), { keepsAwake: true });
  }

  /** @throws Error for a name that no room can have, too many rooms, or a server that reaches no others */
  emit(rooms: readonly string[], event: Omit<ServerSideEvent, "from">): void {
    const others = this.#checked(rooms);
    const { report } = this.#ports;
    for (const room of rooms) {
      void others.call(room, event).then(
        (answer) => !answer.ok && report(`room ${room} did not handle ${event.event}`, new Error(answer.reason)),
        (error: unknown) => report(`${event.event} did not reach room ${room}`, error),
      );
    }
  }

  /**
   * @returns answers in the order of `rooms`
   * @throws Error when one is missing after `SERVER_SIDE_WAIT_MS`; its `responses` holds those that arrived
   */
  async emitWithAck(rooms: readonly string[], event: Omit<ServerSideEvent, "from">): Promise<unknown[]> {
    const others = this.#checked(rooms);
    const results = await Promise.allSettled(
      rooms.map((room) => this.#inTime(answerOf(room, others.call(room, event)))),
    );
    const failure = results.find((result) => result.status === "rejected");
    const responses = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if (failure) throw Object.assign(failure.reason as Error, { responses });
    return responses;
  }

  /** Calls the handler for an event of another room. @returns its answer; of a failure, the other room learns only that there was one */
  async receive(
    namespace: { readonly serverHandlers: ServerHandlers<EventsMap> } | undefined,
    { from, nsp, event, args }: ServerSideEvent,
  ): Promise<ServerSideAnswer> {
    if (!namespace) return { ok: false, reason: `it has no namespace ${nsp}` };
    const { serverHandlers } = namespace;
    const handler = Object.hasOwn(serverHandlers, event) ? serverHandlers[event] : undefined;
    if (!handler) return { ok: false, reason: `namespace ${nsp} has no handler for it` };
    try {
      return { ok: true, answer: await this.#ports.turn(() => handler(from, ...args)) };
    } catch (error) {
      this.#ports.report(`the handler of ${event} from room ${from} failed`, error);
      return { ok: false, reason: "its handler failed" };
    }
  }

  #checked(rooms: readonly string[]): OtherRooms {
    const others = this.#others;
    if (!others) throw new Error("the application gives no `rooms`");
    if (rooms.length > SERVER_SIDE_ROOMS_MAX)
      throw new RangeError(`at most ${SERVER_SIDE_ROOMS_MAX} rooms at once, not ${rooms.length}`);
    for (const room of rooms as readonly unknown[]) {
      if (typeof room !== "string") throw new TypeError(`a room is a string, not ${typeof room}`);
      if (!others.isName(room)) throw new RangeError(`there can be no room ${JSON.stringify(room.slice(0, 80))}`);
    }
    return others;
  }

  #inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        dueMs: this.#ports.now() + SERVER_SIDE_WAIT_MS,
        giveUp: () => reject(new Error("operation has timed out")),
      };
      this.#waiting.add(waiting);
      this.#deadline.pull(waiting.dueMs);
      const stop = (): void => {
        this.#waiting.delete(waiting);
        if (this.#waiting.size === 0) this.#deadline.clear();
      };
      answer.finally(stop).then(resolve, reject);
    });
  }

  #expire(nowMs: number): void {
    for (const waiting of this.#waiting) {
      if (waiting.dueMs > nowMs) this.#deadline.pull(waiting.dueMs);
      else {
        this.#waiting.delete(waiting);
        waiting.giveUp();
      }
    }
  }
}

async function answerOf(room: string, answering: Promise<ServerSideAnswer>): Promise<unknown> {
  const answer = await answering;
  if (answer.ok) return answer.answer;
  throw new Error(`room ${room}: ${answer.reason}`);
}
