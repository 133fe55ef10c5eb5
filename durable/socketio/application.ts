// The parts of an application that the shell of an object works with. Made by applications, for socket-object.ts.
import type { Meter } from "../../src/metrics/meter.ts";
import type { Identity } from "../../src/socketio/engine/identity.ts";
import type { SessionServer } from "../../src/socketio/engine/session-server.ts";
import type { Session } from "../../src/socketio/engine/session.ts";
import type { ServerPorts } from "../../src/socketio/server/server.ts";
import type { ServerSideAnswer, ServerSideEvent } from "../../src/socketio/server/server-side.ts";
import type { Waiting } from "./wake-clock.ts";

/** The limits of an object. */
export interface ObjectLimits {
  /** Bytes of one long-polling POST. */
  readonly maxPayloadBytes: number;
  readonly pingIntervalMs: number;
  /** Connections that one address may have here; 0 is no limit. */
  readonly maxConnectionsPerIp: number;
  /** How it waits for its deadlines; tests have reasons of their own. */
  readonly waiting?: Waiting;
}

export interface Application {
  /** One of Socket.IO hears the events of other rooms. */
  readonly server: SessionServer & { hear?(event: ServerSideEvent): Promise<ServerSideAnswer> };
  readonly limits: ObjectLimits;
  /** Called before a connection is opened whose token the Worker has verified. @returns the answer that refuses it, if any */
  turnAway?(identity: Identity): Response | undefined;
  /** Where `serverSideEmit` finds the objects of other rooms, by name. */
  readonly rooms?: { getByName(room: string): { hear(event: ServerSideEvent): Promise<ServerSideAnswer> } };
  /** Called for a connection that wakes the object. @returns a cause of its own to count it under, as for operators' connections */
  readonly wakeCause?: (connection: Pick<Session, "sid" | "handshake">) => string | undefined;
  /** Called after each turn that an input or a deadline began, together in one turn of their own. */
  readonly afterTurn?: ReadonlyArray<() => void>;
}

/** The outside world, as an object gives it to its server. */
export interface ObjectPorts extends ServerPorts {
  readonly meter: Meter;
}

/**
 * Builds the server of an object, and what else the application keeps at hand. Called once per instance, before any
 * session is restored, and again after everything stored was erased.
 */
export type CreateServer<Env, Parts extends Application = Application> = (
  ctx: DurableObjectState,
  env: Env,
  ports: ObjectPorts,
) => Parts;
