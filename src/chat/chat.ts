// A chat room: the first application of the Socket.IO core. Passes connections and events to the room's features
// (features.ts). Made by durable/create-chat.ts; the Socket.IO server calls it as a namespace.
import type { RoomWelcome, ServerToClientEvents, Welcome } from "../protocol/chat-events.ts";
import { denyOverLimit } from "../protocol/connection-limits.ts";
import { messageId } from "../protocol/message-id.ts";
import type { Identity } from "../protocol/identity.ts";
import { memberEvent } from "../protocol/input.ts";
import { UNDECIDED } from "../protocol/refuse.ts";
import type { NamedFormer } from "../protocol/shards.ts";
import { Meter } from "../metrics/meter.ts";
import { Recovery } from "../socketio/recovery/recovery.ts";
import {
  CONTEXT,
  HANDLE_EVENT,
  Namespace,
  type ConnectRequest,
  type Refusal,
  type AuthorizeResult,
} from "../socketio/server/namespace.ts";
import type { EventsMap } from "../socketio/server/events.ts";
import { makeFeatures, type ChatDependencies, type Features } from "./features.ts";
import { ChatRecoveryLog } from "./log/chat-recovery.ts";
import { RoomCalls } from "./room-calls.ts";
import { Requests, type Request } from "./room/requests.ts";
import { Room, type Client, type Connection, type Membership } from "./room/room.ts";

export class Chat extends Namespace<EventsMap, ServerToClientEvents, Membership> {
  readonly room: Room;
  readonly features: Features;
  /** Calls from outside the room. */
  readonly calls: RoomCalls;
  /** Events of members, and of callers without a connection. */
  readonly requests: Requests;
  override readonly recovery: Recovery | undefined;
  /** Features have operations for all events, known or not: `HANDLE_EVENT`. */
  readonly handlers = {};

  constructor({ room: name, settings, log, state, meter = new Meter(), durable, ...outside }: ChatDependencies) {
    super();
    this.room = new Room({ name, settings, log, state, meter, durable });
    const perform = (request: Request): void | Promise<void> => this.requests.perform(request);
    const entry = {
      authorize: (identity: Identity, address: string) =>
        this.#decide(() => this.#authorizeElsewhere(identity, address)),
      welcome: (client: Connection) => this.#welcome(client),
      noteToken: (membership: Membership, identity: Identity, address: string) =>
        this.#noteToken(membership, identity, address),
      claimedSeq: (former: NamedFormer, owner: string) => this.recovery?.claim(former, { nsp: "/", owner })?.seq,
    };
    this.features = makeFeatures(this.room, { ...outside, perform, entry });
    this.requests = new Requests(this.room, this.features);
    this.calls = new RoomCalls(this.room, this.features, this.requests);
    const { toldSeq, catchUp, reportProblem } = this.room;
    const countChanges = (): number => this.features.changes.count;
    const recoveryLog = new ChatRecoveryLog({ log, toldSeq, catchUp, countChanges, report: reportProblem });
    const { recoveryWindowMs } = settings;
    this.recovery = recoveryWindowMs > 0 ? new Recovery(recoveryLog, recoveryWindowMs) : undefined;
  }

  override onStart(): void {
    const { hooks, posting, records } = this.features;
    this.room.open(this[CONTEXT], { hooks, writer: posting.posts, sanctions: records });
  }

  override onWake(): void {
    this.features.shards?.wake();
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
  #decide<Verdict>(ask: () => Verdict): Verdict | Refusal {
    try {
      return ask();
    } catch (error) {
      this.room.reportProblem("a CONNECT could not be decided", error);
      return UNDECIDED;
    }
  }

  /** Decides on a CONNECT in a shard, whose end the room does not hear of. */
  #authorizeElsewhere(identity: Identity, address: string): AuthorizeResult<Membership> {
    const verdict = this.#authorize(identity, address);
    if (verdict.accepted) this.features.bounds.renew(verdict.data);
    return verdict;
  }

  #authorize(identity: Identity, address: string): AuthorizeResult<Membership> {
    const { user, name, role } = identity;
    const data = { user, name, role: this.features.direct.roleOf(role), sinceMs: this.room.now() };
    this.#noteToken(data, identity, address);
    // Asked here too, so that a refused client takes no older connection of its user along.
    return this.#refuseEntry(data) ?? { accepted: true, data };
  }

  #noteToken(membership: Membership, identity: Identity, address: string): void {
    this.features.hooks.tell("onToken", membership, identity, address);
  }

  #refuseEntry(membership: Membership): Refusal | undefined {
    for (const feature of this.features.hooks.with("admit")) {
      const refusal = feature.admit(membership);
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
    return this.features.bans.ownerOf(user);
  }

  /** CHAT-1. */
  override onConnect(client: Client): void {
    // A newcomer reads the log from here on, so all messages that the others have seen have to be in it.
    this.room.catchUp();
    const { hooks } = this.features;
    hooks.tell("onConnect", client);
    client.emit("welcome", this.#welcome(client));
    hooks.tell("onWelcomed", client);
  }

  #welcome(client: Connection): Welcome {
    const { user, name, role } = client.peek();
    const { settings, log } = this.room;
    const lastSeq = Math.min(log.lastSeq, this.room.toldSeq());
    const lastId = lastSeq === log.lastSeq ? log.lastId : messageId(log.epoch, lastSeq, log.lifeAt(lastSeq));
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
        crowdMembers: settings.crowdMembers,
      },
    };
    // features.ts makes the compiler demand a feature for each other field.
    const parts = this.features.hooks.with("welcome").map((feature) => feature.welcome(client));
    return Object.assign(ofRoom, ...parts) as Welcome;
  }

  override onRestore(client: Client): void {
    this.features.hooks.tell("onRestore", client);
  }

  override onRefresh(client: Client, identity: Identity): void {
    this.#noteToken(client.data, identity, client.handshake.address);
    this.features.hooks.tell("onRefresh", client, identity);
  }

  override onDisconnect(client: Client): void {
    this.features.hooks.tell("onDisconnect", client);
  }

  // ---- events of members -----------------------------------------------------------------------------------

  override [HANDLE_EVENT](client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    const { given, reply } = memberEvent(args, (error) => void client.emit("error", error));
    return this.requests.perform({ event, bearer: client.peek(), client, given, reply });
  }
}
