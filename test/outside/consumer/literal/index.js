import { Namespace, SocketIoObject, connect } from "parley-rooms/socketio";
class Board extends Namespace {
  handlers = { draw: (socket, line) => socket.broadcast.emit("draw", line) };
}
export class BoardObject extends SocketIoObject {
  namespaces = { "/": new Board() };
}
export default { fetch: (request, env) => connect(request, { object: (room) => env.BOARD.getByName(room) }) };
