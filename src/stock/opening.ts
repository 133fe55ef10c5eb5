// Makes the recovery of a stock server, and opens it when its object starts: ties it to the deadlines and the storage of the object.
// Called by durable/engine-object.ts.
import type { SessionPorts, SessionServer } from "../socketio/engine/session-server.ts";
import type { EngineServer } from "./engine-server.ts";
import type { StockLayer, StockSession } from "./layer.ts";
import { Recovery, type RecoveryPorts } from "./recovery.ts";
import type { Sleep } from "./sleep.ts";

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
