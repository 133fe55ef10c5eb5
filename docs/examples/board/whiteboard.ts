// A whiteboard that people draw on together: docs/from-socket-io.md names it as a whole application. Each board is
// served by an object of its own (index.ts).
import { Namespace, type ConnectRequest, type Handlers, type Socket } from "parley-rooms/socketio";

export type Line = readonly [fromX: number, fromY: number, toX: number, toY: number];

interface ClientToServerEvents {
  draw: (line: Line, ack: (answer: { ok: true }) => void) => void;
}
interface ServerToClientEvents {
  draw: (line: Line, color: string) => void;
  left: (name: string) => void;
}
interface Painter {
  name: string;
  color: string;
}
type Client = Socket<ServerToClientEvents, Painter>;

export class Whiteboard extends Namespace<ClientToServerEvents, ServerToClientEvents, Painter> {
  handlers: Handlers<ClientToServerEvents, Client> = {
    draw: (socket, line, ack) => {
      socket.to("board").emit("draw", line, socket.data.color);
      ack?.({ ok: true });
    },
  };

  // `auth.token` has been verified, and names `identity`.
  override authorize({ auth, identity }: ConnectRequest) {
    return { accepted: true as const, data: { name: identity!.name, color: String(auth["color"]) } };
  }

  override onConnect(socket: Client) {
    socket.join("board");
  }

  override onDisconnect(socket: Client) {
    this.to("board").emit("left", socket.data.name);
  }
}
