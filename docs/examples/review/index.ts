// Drafts that a colleague reviews, perhaps tomorrow. docs/socket-io-reference.md shows a part of it.
import { connect, Namespace, SocketIoObject, type AskAnswer, type Handlers, type Socket } from "parley-rooms/socketio";

interface ClientToServerEvents {
  write: () => void;
  submit: (draft: string, reviewer: string) => void;
  whoami: (ack: (id: string) => void) => void;
}
interface ServerToClientEvents {
  "review?": (draft: string, ack: (verdict: string) => void) => void;
  reviewed: (draft: string, verdict: unknown) => void;
  "not reviewed": (draft: string, why: string) => void;
}
type Client = Socket<ServerToClientEvents>;

class Reviews extends Namespace<ClientToServerEvents, ServerToClientEvents> {
  handlers: Handlers<ClientToServerEvents, Client> = {
    write: (socket) => socket.join("editors"),
    submit: (_socket, draft, reviewer) => {
      const client = this.sockets.get(reviewer);
      if (client) this.askFor(client, draft);
    },
    whoami: (socket, ack) => ack?.(socket.id),
  };

  override continuations = {
    reviewed: (_reviewer: Client, answer: AskAnswer, data: unknown) => {
      const { draft } = data as { draft: string };
      if (answer.kind === "ack") this.to("editors").emit("reviewed", draft, answer.args[0]);
      else this.to("editors").emit("not reviewed", draft, answer.kind); // "timeout", or "disconnected"
    },
  };

  askFor(reviewer: Client, draft: string) {
    reviewer.ask("review?", [draft], { handler: "reviewed", data: { draft }, timeoutMs: 24 * 3_600_000 });
  }
}

export class ReviewObject extends SocketIoObject {
  namespaces = { "/": new Reviews() };
}

export default {
  fetch: (request, env) => connect(request, { object: (room) => env.REVIEWS.getByName(room) }),
} satisfies ExportedHandler<{ REVIEWS: DurableObjectNamespace<ReviewObject> }>;
