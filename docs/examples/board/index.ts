// The Worker of the boards, and their object.
import { connect, jwt, SocketIoObject } from "parley-rooms/socketio";

import { Whiteboard, type Line } from "./whiteboard.ts";

interface Env {
  readonly BOARD: DurableObjectNamespace<BoardObject>;
  readonly JWT_SECRET: string;
}

export class BoardObject extends SocketIoObject<Env> {
  namespaces = { "/": new Whiteboard() };
  override verify = jwt({ secret: this.env.JWT_SECRET });

  /** From your Worker, by RPC: `env.BOARD.getByName("plans").draw(line)`. */
  draw(line: Line): void {
    this.namespaces["/"].to("board").emit("draw", line, "black");
  }

  /** Forgets all that is stored, and closes all connections; clients come back to an empty board. */
  async clear(): Promise<void> {
    await this.erase();
  }
}

export default {
  fetch: (request, env) =>
    connect(request, {
      object: (room) => env.BOARD.getByName(room),
      allowedOrigins: ["http://localhost:5173"], // of your page
    }),
} satisfies ExportedHandler<Env>;
