// The Worker. Clients that name no room share one object, and so one server.
import { connect, EngineObject } from "parley-rooms/engine";
import { Server } from "socket.io";

import { register } from "./server.ts";

export class App extends EngineObject {
  // The options are those of the server on Node, `cors` among them.
  io: Server = this.serve(Server, {}, register);
}

export default {
  // io() reaches the object `global`, io({ query: { room: "plans" } }) the object `plans`.
  fetch: (request, env) => connect(request, { object: (room) => env.APP.getByName(room) }),
} satisfies ExportedHandler<Env>;
