// Opens the recovery of a stock server, and its sleep, when its object starts: ties them to the deadlines, the storage and the sessions of the object.
// Called by durable/engine-object.ts.
import type { SessionPorts, SessionServer } from "../socketio/engine/session-server.ts";
import { CLOSINGS } from "../socketio/wire/closings.ts";
import type { EngineServer } from "./engine-server.ts";
import type { StockLayer, StockSession } from "./layer.ts";
import { Recovery, type RecoveryPorts } from "./recovery.ts";
import type { Sleep, SleepPorts } from "./sleep.ts";

interface Opening {
  readonly engine: EngineServer;
  readonly server: SessionServer<StockSession, StockLayer>;
  readonly ports: Pick<SessionPorts, "now" | "newId" | "report">;
  readonly storage: RecoveryPorts["storage"];
  /** If the object sleeps while clients are connected. */
  readonly sleep: Sleep | undefined;
  /** Whether connections of the instance before it are there. */
  readonly hasSlept: boolean;
  /** Called when no socket is connected, and none may recover any more. */
  readonly onEmpty: () => void;
}

/** @returns nothing if clients do not recover, or by an adapter of the application's */
export function recoveryOf(windowMs: number | undefined, { opts }: EngineServer): Recovery | undefined {
  if (windowMs === undefined) return undefined;
  // A ping proves what came before the one that it answers; the next one may wait for its interval, and is then given up.
  return new Recovery({ windowMs, unnoticedMs: opts.pingInterval + 2 * opts.pingTimeout });
}

/** @returns to be called when the last client has gone */
export function openRecovery(
  recovery: Recovery,
  { engine, sleep, server, ports, storage, hasSlept, onEmpty }: Opening,
): () => void {
  const { deadlines } = server;
  const sweep = (nowMs: number): void => recovery.sweep(nowMs);
  const onTime = deadlines.add("recovery", sweep);
  // While clients are connected, their pings wake the object anyway.
  const atNextWake = deadlines.add("recovery of a sleeping object", sweep, { piggybacks: true });
  const look = deadlines.add("changes of sockets", (nowMs) => recovery.look(nowMs));
  recovery.open({
    ...ports,
    storage,
    sweepAt: (atMs) => (sleep && engine.clientsCount > 0 ? atNextWake : onTime).pull(atMs),
    lookAt: (atMs) => look.pull(atMs),
    onEmpty,
    sleeping: sleep && { hasSlept, asleepOf: (socket, data) => sleep.asleepOf(socket, data) },
  });
  if (!sleep) recovery.sweep(ports.now());
  return () => {
    if (atNextWake.atMs !== undefined) onTime.pull(atNextWake.atMs);
  };
}

/**
 * Restores the sockets of connections that slept.
 * @param registered done when `register` is
 */
export async function restoreAsleep(
  sleep: Sleep,
  registered: Promise<unknown>,
  {
    server,
    ports,
    layer,
    after,
  }: Pick<Opening, "server" | "ports"> & {
    readonly layer: StockLayer;
    readonly after: SleepPorts["after"];
  },
): Promise<void> {
  const restart = (session: StockSession): void => server.close(session, CLOSINGS.restart);
  try {
    await sleep.restore(server.sessions.values(), registered, {
      ...ports,
      restore: (session, request) => layer.restore(session, request),
      restart,
      after,
    });
  } catch (error) {
    ports.report("connections that slept could not be restored", error);
    for (const session of server.sessions.values()) if (!session.conn) restart(session);
  }
}
