// The smallest application: the lines of one client reach the others of its board.
import { connect, Namespace, SocketIoObject, type Handlers } from "parley-rooms/socketio";

class Board extends Namespace {
  handlers: Handlers = { draw: (socket, line) => socket.broadcast.emit("draw", line) };
}
export class BoardObject extends SocketIoObject {
  namespaces = { "/": new Board() };
}
export default {
  fetch: (request, env) => connect(request, { object: (room) => env.BOARD.getByName(room) }),
} satisfies ExportedHandler<{ BOARD: DurableObjectNamespace<BoardObject> }>;
