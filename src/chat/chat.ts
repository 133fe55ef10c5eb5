// A chat room: the first application of the Socket.IO core. Passes connections and events to the parts of the room
// (parts.ts). Made by src/objects/create-chat.ts; the Socket.IO server calls it as a namespace.
import type { Message, RoomWelcome, ServerToClientEvents, Welcome } from "../protocol/chat-events.ts";
import { denyOverLimit } from "../protocol/connection-limits.ts";
import { MISSED_MESSAGES_MAX } from "../protocol/limits.ts";
import { messageId, parseMessageId } from "../protocol/message.ts";
import type { Identity } from "../protocol/identity.ts";
import { memberEvent } from "../protocol/input.ts";
import { UNDECIDED } from "../protocol/refuse.ts";
import { Meter } from "../metrics/meter.ts";
import { Recovery, type MissedEvent, type RecoveryLog } from "../socketio/recovery/recovery.ts";
import {
  CONTEXT,
  HANDLE_EVENT,
  Namespace,
  type ConnectRequest,
  type Refusal,
  type AuthorizeResult,
} from "../socketio/server/namespace.ts";
import type { EventsMap } from "../socketio/server/events.ts";
import { makeParts, type ChatDependencies, type Parts, type PartsPorts } from "./parts.ts";
import { MessageChanges } from "./messages/message-changes.ts";
import { RoomCalls } from "./room-calls.ts";
import type { RoomPart } from "./room/room-part.ts";
import type { Requests } from "./room/requests.ts";
import { Room, type Client, type Connection, type Membership } from "./room/room.ts";

export class Chat extends Namespace<EventsMap, ServerToClientEvents, Membership> {
  readonly room: Room;
  readonly parts: Parts;
  /** Calls from outside the room. */
  readonly calls: RoomCalls;
  /** Events of members, and of callers without a connection. */
  readonly requests: Requests;
  override readonly recovery: Recovery | undefined;
  /** Parts have operations for all events, known or not: `HANDLE_EVENT`. */
  readonly handlers = {};

  constructor({ room: name, settings, log, state, meter = new Meter(), durable, ...ports }: ChatDependencies) {
    super();
    this.room = new Room({ name, settings, log, state, meter, durable });
    const changes = new MessageChanges(this.room);
    const recoveryLog = new ChatRecoveryLog(this.room, changes);
    this.recovery = settings.recoveryWindowMs > 0 ? new Recovery(recoveryLog, settings.recoveryWindowMs) : undefined;
    this.parts = makeParts(this.room, { ...ports, changes, recovery: this.recovery, entry: this.#entry });
    this.requests = this.parts.requests;
    this.calls = new RoomCalls(this.room, this.parts, this.requests);
  }

  /** The steps of a connection that shards need of the room. They are taken in the open room, when all of its parts are there. */
  get #entry(): PartsPorts["entry"] {
    return {
      authorize: (identity, address) => this.#decide(() => this.#authorizeRemote(identity, address)),
      noteToken: (membership, identity, address) => this.#noteToken(membership, identity, address),
      welcome: (client) => this.#welcome(client),
    };
  }

  /** The part of a feature that was handed in. @throws Error in a room without it */
  part(feature: string): RoomPart {
    const part = this.parts.ofFeatures.get(feature);
    if (!part) throw new Error(`the room has no feature "${feature}"`);
    return part;
  }

  override onStart(): void {
    const { hooks, posting, records } = this.parts;
    this.room.open(this[CONTEXT], { hooks, writer: posting.posts, sanctions: records });
  }

  override onWake(): void {
    this.parts.shards?.wake();
  }

  // ---- connections -----------------------------------------------------------------------------------------

  override authorize(request: ConnectRequest<Identity>): AuthorizeResult<Membership> {
    return this.#decide(() => {
      const { identity, handshake } = request;
      if (!identity) throw new Error("a chat room requires a verified token");
      return this.#authorize(identity, handshake.address);
    });
  }

  override admit(membership: Membership): Refusal | undefined {
    return this.#decide(() => this.#admit(membership));
  }

  /** SIO-13: the storage may be readable again soon. */
  #decide<Decision>(ask: () => Decision): Decision | Refusal {
    try {
      return ask();
    } catch (error) {
      this.room.reportProblem("a CONNECT could not be decided", error);
      return UNDECIDED;
    }
  }

  /** Decides on a CONNECT in a shard, whose end the room does not hear of. */
  #authorizeRemote(identity: Identity, address: string): AuthorizeResult<Membership> {
    const decision = this.#authorize(identity, address);
    if (decision.accepted) this.parts.bounds.renew(decision.data);
    return decision;
  }

  #authorize(identity: Identity, address: string): AuthorizeResult<Membership> {
    const { user, name, role } = identity;
    const data = { user, name, role: this.parts.direct.roleOf(role), sinceMs: this.room.now() };
    this.#noteToken(data, identity, address);
    // Asked here too, so that a refused client takes no older connection of its user along.
    return this.#refuseEntry(data) ?? { accepted: true, data };
  }

  #noteToken(membership: Membership, identity: Identity, address: string): void {
    this.parts.hooks.tell("onToken", membership, identity, address);
  }

  #refuseEntry(membership: Membership): Refusal | undefined {
    for (const part of this.parts.hooks.with("admit")) {
      const refusal = part.admit(membership);
      if (refusal) return refusal;
    }
    return undefined;
  }

  #admit(membership: Membership): Refusal | undefined {
    const { name, settings, clients, members } = this.room;
    const there = { all: clients.size, ofUser: members.connectionsOf(membership.user) };
    return denyOverLimit(there, settings, `Room ${name}`) ?? this.#refuseEntry(membership);
  }

  override ownerOf({ user }: Membership): string {
    return this.parts.bans.ownerOf(user);
  }

  /** CHAT-1. */
  override onConnect(client: Client): void {
    // A newcomer reads the log from here on, so all messages that the others have seen have to be in it.
    this.room.catchUp();
    const { hooks } = this.parts;
    hooks.tell("onConnect", client);
    client.emit("welcome", this.#welcome(client));
    hooks.tell("onWelcomed", client);
  }

  #welcome(client: Connection): Welcome {
    const { user, name, role } = client.peek();
    const { settings, log } = this.room;
    const lastSeq = Math.min(log.lastSeq, this.room.notifiedSeq());
    const lastId = lastSeq === log.lastSeq ? log.lastId : messageId(log.epoch, lastSeq, log.incarnationAt(lastSeq));
    const ofRoom: RoomWelcome = {
      room: this.room.name,
      user,
      name,
      role,
      epoch: log.epoch,
      lastSeq,
      ...(lastId !== undefined && { lastId }),
      now: this.room.now(),
      settings: {
        maxContentLength: settings.maxContentLength,
        durability: settings.durability,
        messageRate: settings.messageRate.perSecond,
        messageBurst: settings.messageRate.burst,
        editWindowSeconds: settings.editWindowMs / 1000,
        historySeconds: settings.historyMs / 1000,
        crowdMembers: settings.crowdMembers,
      },
    };
    // parts.ts makes the compiler demand a part for each other field.
    const fields = this.parts.hooks.with("welcome").map((part) => part.welcome(client));
    return Object.assign(ofRoom, ...fields) as Welcome;
  }

  override onRestore(client: Client): void {
    this.parts.hooks.tell("onRestore", client);
  }

  override onRefresh(client: Client, identity: Identity): void {
    this.#noteToken(client.data, identity, client.handshake.address);
    this.parts.hooks.tell("onRefresh", client, identity);
  }

  override onDisconnect(client: Client): void {
    this.parts.hooks.tell("onDisconnect", client);
  }

  // ---- events of members -----------------------------------------------------------------------------------

  override [HANDLE_EVENT](client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    const { given, reply } = memberEvent(args, (error) => void client.emit("error", error));
    return this.requests.perform({ event, bearer: client.peek(), client, given, reply });
  }
}

/** Missed events since a seq; valid while `lastSeq` and the number of changes stay the same. */
interface Answered {
  readonly seq: number;
  readonly lastSeq: number;
  readonly changes: number;
  readonly missed: readonly MissedEvent[];
}

/**
 * Recovery replays the room's messages, with their changes (REC-5, MSG-7). They are in the log already, so a broadcast costs no row of its
 * own. `welcome` has the rest of the room's state.
 */
class ChatRecoveryLog implements RecoveryLog {
  readonly #room: Room;
  readonly #changes: MessageChanges;
  /** The last answer: after a network failure all clients ask for the same. */
  #answered: Answered | undefined;

  constructor(room: Room, changes: MessageChanges) {
    this.#room = room;
    this.#changes = changes;
  }

  get epoch(): string {
    return this.#room.log.epoch;
  }

  get key(): string {
    return this.#room.log.key;
  }

  get lastSeq(): number {
    return this.#room.notifiedSeq();
  }

  incarnationAt(seq: number): string | undefined {
    return this.#room.log.incarnationAt(seq);
  }

  since(seq: number): readonly MissedEvent[] | undefined {
    this.#room.catchUp();
    const { lastSeq } = this;
    const changes = this.#changes.count;
    const answered = this.#answered;
    if (answered?.seq === seq && answered.lastSeq === lastSeq && answered.changes === changes) return answered.missed;
    try {
      const missed = this.#read(seq, lastSeq - seq);
      if (missed) this.#answered = { seq, lastSeq, changes, missed };
      return missed;
    } catch (error) {
      this.#room.reportProblem("missed messages could not be read", error);
      return undefined;
    }
  }

  #read(seq: number, count: number): MissedEvent[] | undefined {
    if (count > MISSED_MESSAGES_MAX) return undefined;
    if (count === 0) return [];
    const { messages } = this.#room.log.page({ after: seq, limit: count });
    // Fewer than there are seqs: some were trimmed, or seen and never stored. The gap is not provably complete.
    if (messages.length !== count) return undefined;
    return messages.map((message) => toMissedEvent(message, this.epoch));
  }
}

const toMissedEvent = (message: Message, epoch: string): MissedEvent => ({
  seq: message.seq,
  incarnation: parseMessageId(epoch, message.id)!.incarnation,
  atMs: message.timestamp,
  event: "chat-message",
  args: [message],
});
