// The interface between applications and the shell of an object (socket-object.ts): the parts that an application gives, and the ports
// that it gets.
import type { Meter } from "../../src/socketio/engine/backpressure.ts";
import type { SessionServer } from "../../src/socketio/engine/session-server.ts";
import type { Identity, Session } from "../../src/socketio/engine/session.ts";
import type { ServerPorts } from "../../src/socketio/server/server.ts";
import type { UpgradeFacts } from "../../src/rpc/upgrade-header.ts";
import type { ServerSideRpc } from "../../src/rpc/server-side.ts";
import type { Waiting } from "./wake-clock.ts";

/** The limits of an object. */
export interface ObjectLimits {
  /** Bytes of one long-polling POST. */
  readonly maxPayloadBytes: number;
  readonly pingIntervalMs: number;
  /** Connections that one address may have here; 0 is no limit. */
  readonly maxConnectionsPerIp: number;
  /** How the object waits for its deadlines; set by tests. */
  readonly waiting?: Waiting;
}

export interface Application {
  /** A server of Socket.IO receives the events of other rooms, too. */
  readonly server: SessionServer & Partial<ServerSideRpc>;
  readonly limits: ObjectLimits;
  /** Called before a connection is opened. @returns the answer by which the Worker brings it to another object */
  redirect?(facts: UpgradeFacts): Response | undefined;
  /** Called before a connection with a verified token is opened. @returns the answer that refuses it, if any */
  refuseConnection?(identity: Identity): Response | undefined;
  /** The binding with which `serverSideEmit` reaches other rooms. */
  readonly rooms?: { getByName(room: string): ServerSideRpc } | undefined;
  /** Called for a connection that wakes the object. @returns a cause of the application's own, as for connections of operators */
  readonly wakeCause?: (connection: Pick<Session, "sid" | "handshake">) => string | undefined;
  /** Called after each turn of an input or a deadline, all in one turn. */
  readonly afterTurn?: ReadonlyArray<() => void>;
}

/** The functions of the outside world that an object gives to its server. */
export interface ObjectPorts extends ServerPorts {
  readonly meter: Meter;
  /** The storage of the object. An application opens it with the format of its data (stored-format.ts). */
  readonly storage: DurableObjectStorage;
}

/**
 * Makes the server of an object, and other parts that the application needs. Called once per instance, before any session is restored,
 * and again after the storage was erased.
 */
export type CreateServer = (ports: ObjectPorts) => Application;
