// A room with the job of peers/room.js, in memory, in two objects: a server of the package socket.io, unchanged, and a class for
// `parley-rooms/socketio`. object-server.ts bundles it.
//   /socket.io/?room=NAME&user=NAME
import { Server } from "socket.io";

import * as engine from "../../src/entries/engine.ts";
import * as socketio from "../../src/entries/socketio.ts";
import { serveRoom } from "./peers/room.js";

/** As the peers on Node have it. */
const HEARTBEAT = { pingInterval: 45_000, pingTimeout: 30_000 };

export class StockRoom extends engine.EngineObject {
  io = this.serve(Server, HEARTBEAT, serveRoom);
}

class Room extends socketio.Namespace {
  #lastSeqs = new Map();

  onConnect(socket) {
    socket.join(socket.handshake.query.room);
  }

  handlers = {
    "chat-message": (socket, { content }, ack) => {
      const { room, user } = socket.handshake.query;
      const seq = (this.#lastSeqs.get(room) ?? 0) + 1;
      this.#lastSeqs.set(room, seq);
      const id = `3f0c52a1b7e94d6c8a05-${seq}`;
      const timestamp = Date.now();
      this.to(room).emit("chat-message", { id, seq, room, sender: user, name: user, content, timestamp });
      ack({ ok: true, id, seq, timestamp });
    },
  };
}

export class ClassRoom extends socketio.SocketIoObject {
  options = HEARTBEAT;
  namespaces = { "/": new Room() };
}

const through = (connect) => ({
  fetch: (request, env) => connect(request, { object: (room) => env.ROOM.getByName(room) }),
});
export const StockEntry = through(engine.connect);
export const ClassEntry = through(socketio.connect);
