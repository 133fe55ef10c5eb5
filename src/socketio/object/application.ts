// The interface between applications and the shell of an object (socket-object.ts): the parts that an application gives, and the ports
// that it gets.
import type { Meter } from "../engine/backpressure.ts";
import type { Transport } from "../engine/engine.ts";
import type { SessionServer } from "../engine/session-server.ts";
import type { Identity, Session } from "../engine/session.ts";
import type { ServerPorts } from "../server/server.ts";
import type { UpgradeFacts } from "../../rpc/upgrade-header.ts";
import type { ServerSideRpc } from "../../rpc/server-side.ts";

/** The limits of an object. */
export interface ObjectLimits {
  /** Bytes of one long-polling POST. */
  readonly maxPayloadBytes: number;
  readonly pingIntervalMs: number;
  /** Connections that one address may have here; 0 is no limit. */
  readonly maxConnectionsPerIp: number;
  /** Those of one address that have joined nothing yet, in all objects of an isolate; 0 is no limit. Default: `maxConnectionsPerIp`. */
  readonly maxUnjoinedPerIp?: number | undefined;
  /** Connections do not survive sleep, so the object stays awake while it has any; the server is given the same option. */
  readonly staysAwake?: boolean | undefined;
}

/** How an application lets a request of a client in. */
export interface Admission {
  /** The id of the session that it opens. Default: a new one. */
  readonly sid?: string | undefined;
  /** Given to `Layer.newSession` of that session. */
  readonly request?: unknown;
  /** Called with the answer before it leaves: the application may add headers to it. */
  readonly answering?: (answer: Response) => void;
}

export interface Application {
  /** A server of Socket.IO receives the events of other rooms, too. */
  readonly server: SessionServer & Partial<ServerSideRpc>;
  readonly limits: ObjectLimits;
  /** Requests over others are refused. Default: both. */
  readonly transports?: readonly Transport[] | undefined;
  /** Called for each request of a client, before its session gets it. @returns an answer that ends it, or how it goes on */
  admit?(request: Request, facts: UpgradeFacts): Promise<Response | Admission>;
  /** Called before a connection is opened. @returns the answer by which the Worker brings it to another object */
  redirect?(facts: UpgradeFacts): Response | undefined;
  /** Called before a connection with a verified token is opened. @returns the answer that refuses it, if any */
  refuseConnection?(identity: Identity): Response | undefined;
  /** The binding with which `serverSideEmit` reaches other rooms. */
  readonly rooms?: { getByName(room: string): ServerSideRpc } | undefined;
  /** Called for a connection that wakes the object. @returns a cause of the application's own, as for connections of operators */
  readonly wakeCause?: (connection: Pick<Session, "sid" | "handshake">) => string | undefined;
  /**
   * Called when sessions that slept were restored, if bringing them back takes longer than that: the object handles no event until then.
   */
  readonly settle?: () => Promise<void>;
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
