// Connections whose users do not look at the messages, and which asked for counts only (ATT-1 to ATT-3): they get no messages and nothing
// that happens to them, and the number of the newest message now and then. A room has one, and each of its shards (chat/room, shards).
import type { AttendPayload, Counts } from "../protocol/chat-events.ts";
import type { Deadline } from "../clock/deadlines.ts";
import { ThrottledRun } from "../clock/throttle.ts";
import type { Audience, Hub } from "../socketio/server/hub.ts";
import type { Socket } from "../socketio/server/socket.ts";

/** Connections that attend to counts. No user's channel and no socket has a name with a space at its end. */
const CHANNEL = "counts ";

/** From one event `counts` to the next, at least. */
export const COUNTS_WINDOW_MS = 2000;

/** The events that they do without. */
const OF_MESSAGES: ReadonlySet<string> = new Set([
  "chat-message",
  "message-edited",
  "message-deleted",
  "reaction",
  "not-shown",
  "read",
  "typing",
  "typing-count",
]);

export interface AttentionPorts {
  readonly hub: Pick<Hub, "channels" | "emit" | "join" | "leave">;
  readonly counts: () => Counts;
  readonly deadline: (name: string, run: (nowMs: number) => void, options: { keepsAwake: true }) => Deadline;
}

export class Attention {
  readonly #ports: AttentionPorts;
  readonly #sending: ThrottledRun;
  #sentSeq = 0;

  constructor(ports: AttentionPorts) {
    this.#ports = ports;
    const deadline = (due: (nowMs: number) => void): Deadline => ports.deadline("counts", due, { keepsAwake: true });
    this.#sending = new ThrottledRun({ windowMs: () => COUNTS_WINDOW_MS }, () => this.#send(), deadline);
  }

  /** ATT-2: takes the wish of a connection. @returns the counts as they are now */
  attend(client: Socket, { to }: AttendPayload): Counts {
    const { hub, counts } = this.#ports;
    if (to === "counts") hub.join(client, CHANNEL);
    else hub.leave(client, CHANNEL);
    return counts();
  }

  /** @returns the recipients of an event: those of `audience`, but for those who do without it */
  audienceOf(event: string, audience: Audience): Audience {
    const { channels, except = [] } = audience;
    if (channels || !OF_MESSAGES.has(event) || !this.isAsked) return audience;
    return { ...audience, except: [...except, CHANNEL] };
  }

  /** There may be newer messages. */
  moved(nowMs: number): void {
    if (this.isAsked) this.#sending.request(nowMs);
  }

  /** Whether any connection attends to counts. It is in a channel of its own then. */
  get isAsked(): boolean {
    return this.#ports.hub.channels.has(CHANNEL);
  }

  #send(): void {
    const { hub, counts } = this.#ports;
    const now = counts();
    if (now.lastSeq === this.#sentSeq) return;
    this.#sentSeq = now.lastSeq;
    hub.emit({ channels: [CHANNEL] }, "counts", [now]);
  }
}
