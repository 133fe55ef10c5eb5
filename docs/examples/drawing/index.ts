// The Worker of drawing.ts, and its object.
import { connect, SocketIoObject } from "parley-rooms/socketio";

import { Drawing } from "./drawing.ts";

export class DrawingObject extends SocketIoObject {
  namespaces = { "/": new Drawing() };
}

export default {
  fetch: (request, env) => connect(request, { object: (room) => env.DRAWINGS.getByName(room) }),
} satisfies ExportedHandler<{ DRAWINGS: DurableObjectNamespace<DrawingObject> }>;
