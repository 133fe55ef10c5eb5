// The Worker. Its objects, one per board, are in board.ts.
import { connect } from "parley-rooms/socketio";

export { BoardObject } from "./board.ts";

export default {
  // Clients reach the board NAME with io({ path: "/rooms/NAME/socket.io" }). To let in only users whom you know, add `authenticate`.
  fetch: (request, env) => connect(request, { object: (room) => env.BOARD.getByName(room) }),
} satisfies ExportedHandler<Env>;
