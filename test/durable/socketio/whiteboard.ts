// A third-party application: a whiteboard with boards as channels. A recovery log in SQL keeps its events for it.
import {
  connectionStateRecovery,
  jwt,
  Namespace,
  SocketIoObject,
  type Continuations,
  type Handlers,
  type Socket,
} from "parley-rooms/socketio";

/** How long a connection may be recovered. */
export const WINDOW_MS = 60_000;

type PainterData = Record<"boards" | "connects" | "strokes", number>;
type Painter = Socket<Outgoing, PainterData>;
type Ack = (answer: unknown) => void;
interface Incoming {
  join: (board: string, ack: Ack) => void;
  leave: (board: string, ack: Ack) => void;
  draw: (board: string, stroke: unknown) => void;
  shout: (text: string, exceptBoard?: string) => void;
  vote: (painter: string, timeoutMs: number, ack: Ack) => Promise<void>;
  runoff: (painter: string, timeoutMs: number, ack: Ack) => Promise<void>;
  review: (painter: string, timeoutMs: number) => void;
  whoami: (ack: Ack) => void;
}
type Outgoing = Record<"drawn" | "shouted" | "vote?" | "review?" | "reviewed", (...args: unknown[]) => void>;

class Whiteboard extends Namespace<Incoming, Outgoing, PainterData> {
  override readonly continuations: Continuations<Painter> = {
    reviewed: (socket, answer, asked) => void this.emit("reviewed", socket.id, answer, asked),
  };
  readonly handlers: Handlers<Incoming, Painter> = {
    join: (socket, board, ack) => (socket.data.boards++, socket.join(board), ack?.([...socket.rooms])),
    leave: (socket, board, ack) => (socket.leave(board), ack?.([...socket.rooms])),
    draw: (socket, board, stroke) => (socket.data.strokes++, void socket.to(board).emit("drawn", board, stroke)),
    shout: (_socket, text, board) => void (board ? this.except(board) : this).emit("shouted", text),
    vote: async (_socket, painter, timeoutMs, ack) =>
      ack?.(await this.to(painter).fetchSockets()[0]?.timeout(timeoutMs).emitWithAck("vote?").catch(String)),
    runoff: async (_, ...vote) => (await this.to(vote[0]).emitWithAck("vote?"), this.handlers.vote(_, ...vote)),
    review: ({ id }, painter, timeoutMs) =>
      void this.sockets.get(painter)?.ask("review?", [], { handler: "reviewed", data: { by: id }, timeoutMs }),
    whoami: ({ id, user, rooms, data, recovered }, ack) => ack?.({ id, user, rooms: [...rooms], recovered, ...data }),
  };
  override authorize = () => ({ accepted: true as const, data: { boards: 0, connects: 0, strokes: 0 } });
  override onConnect = (socket: Painter): void => void socket.data.connects++;
}

export class WhiteboardRoom extends SocketIoObject {
  readonly namespaces = { "/": new Whiteboard() };
  override readonly verify = jwt({ secret: this.env.JWT_SECRET });
  override readonly recovery = connectionStateRecovery({ maxDisconnectionDuration: WINDOW_MS });
}
