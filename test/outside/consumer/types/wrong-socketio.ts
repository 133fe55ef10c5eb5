// Mistakes that the compiler finds in a Socket.IO application.
import { checked, connect, jwt, Namespace, SocketIoObject, type Handlers, type Socket } from "parley-rooms/socketio";
import * as v from "valibot";

interface ClientToServerEvents {
  draw: (line: number[], ack: (answer: { ok: boolean }) => void) => void;
}
interface ServerToClientEvents {
  drawn: (line: number[]) => void;
}
type Client = Socket<ServerToClientEvents, { color: string }>;

class Board extends Namespace<ClientToServerEvents, ServerToClientEvents, { color: string }> {
  handlers: Handlers<ClientToServerEvents, Client> = {
    draw: (socket, line, ack) => {
      // @ts-expect-error -- the server sends no such event
      socket.emit("painted", line);
      // @ts-expect-error -- a line is a list
      this.emit("drawn", 1);
      // @ts-expect-error -- the data has no such field
      void socket.data.colour;
      // @ts-expect-error -- ok is missing
      ack({});
    },
  };
}

class Unanswered extends Namespace<ClientToServerEvents> {
  // @ts-expect-error -- a declared event needs a handler
  handlers: Handlers<ClientToServerEvents> = {};
}

class Misread extends Namespace<ClientToServerEvents> {
  handlers: Handlers<ClientToServerEvents> = {
    // @ts-expect-error -- the schema makes a text of the line
    draw: checked(v.string(), (_socket, _line, ack) => ack({ ok: true })),
  };
}

export class BoardObject extends SocketIoObject {
  namespaces = { "/": new Board(), "/unanswered": new Unanswered(), "/misread": new Misread() };
  // @ts-expect-error -- a key is missing, or misspelled
  override verify = jwt({ sekret: "" });

  draw(line: number[]): void {
    // @ts-expect-error -- there is no such namespace
    this.namespaces["/boards"].emit("drawn", line);
    // @ts-expect-error -- the server sends no such event
    this.namespaces["/"].emit("draw", line);
  }
}

// @ts-expect-error -- an object needs namespaces
export class Empty extends SocketIoObject {}

const object = (): undefined => undefined;
const request = new Request("https://example.com");
// @ts-expect-error -- there is no such option
await connect(request, { object, origins: "*" });
// @ts-expect-error -- object is missing
await connect(request, { path: "/boards" });
// @ts-expect-error -- a user needs an id
await connect(request, { object, authenticate: () => ({ name: "Ada" }) });
// @ts-expect-error -- there is no such transport
await connect(request, { object, transports: ["pigeon"] });
