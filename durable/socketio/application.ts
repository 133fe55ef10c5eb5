// What an application gives an object of its own: its server, its limits, and what the shell asks it.
import type { Identity } from "../../src/protocol/identity.ts";
import type { ServerSideAnswer, ServerSideEvent } from "../../src/socketio/server/server-side.ts";
import type { ServerPorts, SessionServer } from "../../src/socketio/server/session-server.ts";
import type { Session } from "../../src/socketio/engine/session.ts";
import type { Waiting } from "./wake-clock.ts";

/** What an object needs to know besides its server. */
export interface ObjectLimits {
  /** Bytes of one long-polling POST. */
  readonly maxPayloadBytes: number;
  readonly pingIntervalMs: number;
  /** Connections that one address may have here; 0 is no limit. */
  readonly maxConnectionsPerIp: number;
  /** How it waits for its deadlines; tests have reasons of their own. */
  readonly waiting?: Waiting;
}

/** What an application makes of an object. */
export interface Application {
  readonly server: SessionServer;
  readonly limits: ObjectLimits;
  /** Asked before a connection is opened, where the Worker knows who asks: the answer to whom it is refused. */
  readonly turnAway?: (identity: Identity) => Response | undefined;
  /** Where `serverSideEmit` finds the objects of other rooms, by name. */
  readonly rooms?: { getByName(room: string): { hear(event: ServerSideEvent): Promise<ServerSideAnswer> } };
  /** Whether a connection only watches: what it wakes the object for is counted apart. */
  readonly isWatching?: (session: Pick<Session, "handshake" | "sockets">) => boolean;
  /** Called after each input. */
  readonly onInput?: () => void;
}

/**
 * Builds the server of an object, and what else the object wants to keep at hand. Called once per instance, before any
 * session is restored, and again after everything stored was erased.
 */
export type CreateServer<Env, Parts extends Application = Application> = (
  ctx: DurableObjectState,
  env: Env,
  ports: ServerPorts,
) => Parts;
