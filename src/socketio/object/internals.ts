// The internals of an object: the parts of its application, and the turns of its server. It is no member of the object's
// class, because a subclass in a user's Worker may have methods of any name. Called by socket-object.ts, and by the
// classes of this repository that extend it.
import { logProblem } from "../../settings/log.ts";
import type { Session } from "../engine/session.ts";
import type { Meter } from "../engine/backpressure.ts";
import { Activity, type Wake } from "./activity.ts";
import type { Application } from "./application.ts";
import type { NewerData } from "./stored-format.ts";
import type { WebSockets } from "./web-sockets.ts";

const internalsByObject = new WeakMap<object, Internals<Application>>();

/** The caller knows which parts the application has. */
export const internalsOf = <Parts extends Application>(object: object): Internals<Parts> =>
  internalsByObject.get(object) as unknown as Internals<Parts>;

interface InternalsPorts {
  readonly meter: Meter;
  readonly webSockets: WebSockets;
  /** Called once, with the first input of this instance. */
  readonly onWoken: ((wake: Wake) => void) | undefined;
}

export class Internals<Parts extends Application> {
  /** Counts the work of this instance. */
  readonly activity: Activity;
  readonly #ctx: DurableObjectState;
  readonly #webSockets: WebSockets;
  /** The parts of the server that runs by now, if any. */
  started: Parts | undefined;
  /** Set where the data is of a newer version: then the object does nothing. */
  newer: NewerData | undefined;

  constructor(object: object, ctx: DurableObjectState, { meter, webSockets, onWoken }: InternalsPorts) {
    internalsByObject.set(object, this);
    this.#ctx = ctx;
    this.#webSockets = webSockets;
    this.activity = new Activity(
      meter,
      (wake) => onWoken?.(wake),
      () => this.rest(),
    );
  }

  /** The parts that the application made. @throws NewerData; Error before the server has started, as in `prepare` */
  get parts(): Parts {
    if (this.newer) throw this.newer;
    if (!this.started) throw new Error("the server has not started yet");
    return this.started;
  }

  /**
   * Runs a call by RPC as a turn.
   * @param call its name in the metrics, as a cause of waking
   */
  turn<Result>(run: () => Result, call?: string): Result {
    this.activity.request("call", call);
    return this.furtherTurn(run);
  }

  /** The same for a later step of a call, which is no further request. */
  furtherTurn<Result>(run: () => Result): Result {
    try {
      return this.activity.during(this.parts.server.effects.turn(run));
    } finally {
      this.rest();
    }
  }

  /** Runs an input. No failure reaches the runtime or another session. */
  input<Result>(run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      this.report("an input failed", error);
      return undefined;
    } finally {
      this.rest();
    }
  }

  /** Called after each input. */
  rest(): void {
    this.activity.settle();
    // Not while an alarm runs its deadlines: the cause of waking is known after that.
    const { afterTurn, server } = this.parts;
    if (this.activity.wake && afterTurn) server.effects.turn(() => afterTurn.forEach((run) => run()));
  }

  /** A session's last sign of life, in milliseconds since 1970. */
  lastSeenAtMs(session: Session): number {
    return Math.max(session.seenAtMs, this.#webSockets.lastPongAtMs(session) ?? 0);
  }

  report(problem: string, error: unknown): void {
    this.activity.meter.count("problems:room");
    logProblem("room.problem", problem, error, { room: this.#ctx.id.name ?? this.#ctx.id.toString() });
  }
}
