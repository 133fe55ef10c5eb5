// The Worker of a server of the package socket.io, and its object.
import { Server } from "socket.io";
import { connect, EngineObject } from "parley-rooms/engine";
import { register } from "./server.ts";

export class App extends EngineObject {
  io: Server = this.serve(Server, { cors: { origin: "https://app.example.com" } }, register);
}
export default {
  fetch: (request, env) => connect(request, { object: (room) => env.APP.getByName(room) }),
} satisfies ExportedHandler<{ APP: DurableObjectNamespace<App> }>;
