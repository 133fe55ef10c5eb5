// The Worker, and its object: one per board.
import { connect, SocketIoObject } from "parley-rooms/socketio";

import { Board } from "./board.ts";

export class BoardObject extends SocketIoObject<Env> {
  namespaces = { "/": new Board(this.ctx.storage.sql) };
}

export default {
  // Clients reach the board NAME with io({ path: "/rooms/NAME/socket.io" }). To let in only users whom you know, add `authenticate`.
  fetch: (request, env) => connect(request, { object: (room) => env.BOARD.getByName(room) }),
} satisfies ExportedHandler<Env>;
