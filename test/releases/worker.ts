// The Worker whose bundle and data are kept of each release: the chat, an application of another kind, and the attachments of sleeping connections.
// Bundled by scripts/keep-release.ts, and by tests that open kept data with the code of today.
import { createParley, ChatRoom as BaseRoom, type PostDraft, type PostVerdict, type RoomHandle } from "parley-rooms";
import { Pins, Reports } from "parley-rooms/features";
import {
  connect,
  connectionStateRecovery,
  Namespace,
  SocketIoObject,
  type Handlers,
  type Socket,
} from "parley-rooms/socketio";

export { Announcements, DeadLetters, Lobby } from "parley-rooms";

/** A room with a rule and all features, which shows the attachments of its connections. */
export class ChatRoom extends BaseRoom {
  override features = (room: RoomHandle) => [new Pins(room), new Reports(room)];

  override beforePost({ content }: PostDraft): PostVerdict {
    return content.includes("forbidden") ? { reject: "Not here." } : undefined;
  }

  attachments(): string {
    return JSON.stringify(this.ctx.getWebSockets().map((ws) => ws.deserializeAttachment() as unknown));
  }
}

interface Incoming {
  sit: (table: string, ack: (data: Guest) => void) => void;
  say: (text: string, ack: () => void) => void;
}
interface Outgoing {
  said: (text: string, table: string) => void;
}
interface Guest {
  table: string;
}
type Client = Socket<Outgoing, Guest>;

/** Tables are channels; recovery replays their events. */
class Meeting extends Namespace<Incoming, Outgoing, Guest> {
  handlers: Handlers<Incoming, Client> = {
    sit: (socket, table, ack) => {
      socket.join(table);
      socket.data.table = table;
      ack?.(socket.data);
    },
    say: (socket, text, ack) => {
      const { table } = socket.data;
      this.to(table).emit("said", text, table);
      ack?.();
    },
  };

  override authorize() {
    return { accepted: true as const, data: { table: "" } };
  }
}

export class MeetingObject extends SocketIoObject {
  namespaces = { "/": new Meeting(), "/aside": new Meeting() };
  override recovery = connectionStateRecovery({ maxDisconnectionDuration: 86_400_000 });
}

interface Env {
  readonly CHAT_ROOM: DurableObjectNamespace<ChatRoom>;
  readonly MEETING: DurableObjectNamespace<MeetingObject>;
}

const parley = createParley<Env>();
const ATTACHMENTS = /^\/attachments\/([\w-]+)$/;

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, room] = ATTACHMENTS.exec(pathname) ?? [];
    if (room !== undefined) return new Response(await env.CHAT_ROOM.getByName(room).attachments());
    if (pathname.startsWith("/meetings/"))
      return connect(request, { path: "/meetings", object: (name) => env.MEETING.getByName(name) });
    return parley.fetch(request, env, ctx);
  },
  queue: parley.queue,
};
