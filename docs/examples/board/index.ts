// The deployment of the whiteboard: one object per board, behind Parley's Worker for applications of one's own.
import type { Application } from "../../../durable/socketio/application.ts";
import { SocketObject } from "../../../durable/socketio/socket-object.ts";
import { Server } from "../../../src/socketio/server/server.ts";
import { Whiteboard, type Line } from "./whiteboard.ts";

const OPTIONS = {
  pingIntervalMs: 25_000,
  pingTimeoutMs: 20_000,
  connectTimeoutMs: 45_000,
  maxPayloadBytes: 1_000_000,
  maxConnectionsPerIp: 0, // no limit
  transports: ["polling", "websocket"] as const,
};

interface Parts extends Application {
  readonly board: Whiteboard;
}

export class BoardRoom extends SocketObject<object, Parts> {
  constructor(ctx: DurableObjectState, env: object) {
    // Called once in each life of the object, and again after `erase`: what belongs to one life is made in here.
    super(ctx, env, (_ctx, _env, ports) => {
      const board = new Whiteboard();
      return { board, server: new Server(OPTIONS, { static: { "/": board } }, ports), limits: OPTIONS };
    });
  }

  /** From your Worker, by RPC: `env.CHAT_ROOM.getByName("plans").draw(line)`. */
  draw(line: Line): void {
    this.turn(() => this.parts.board.to("board").emit("draw", line, "black"));
  }

  /** Forgets all that is stored, and closes all connections; clients come back to an empty board. */
  async clear(): Promise<void> {
    await this.erase();
  }
}

export { default } from "../../../src/worker/socketio.ts";
