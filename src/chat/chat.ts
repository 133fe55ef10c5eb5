// A chat room: the first application of the Socket.IO core. Maps what its server tells a namespace onto the room's features
// (features.ts). Made by durable/create-chat.ts.
import type { Answer, ClientToServerEvents, ServerToClientEvents, Welcome } from "../protocol/chat-events.ts";
import type { Identity } from "../protocol/identity.ts";
import { Meter } from "../metrics/meter.ts";
import {
  Namespace,
  type ConnectRequest,
  type Handlers,
  type Refusal,
  type Verdict,
} from "../socketio/server/namespace.ts";
import { makeFeatures, type ChatDependencies, type Features } from "./features.ts";
import { ChatRecoveryLog } from "./log/chat-recovery.ts";
import { RoomCalls } from "./room-calls.ts";
import type { Reply } from "./room/operation.ts";
import { refusePlace } from "./room/places.ts";
import { Requests } from "./room/requests.ts";
import { Room, type Client, type Membership } from "./room/room.ts";

export class Chat extends Namespace<ClientToServerEvents, ServerToClientEvents, Membership> {
  readonly room: Room;
  readonly features: Features;
  /** Calls from outside the room. */
  readonly calls: RoomCalls;
  readonly #requests: Requests;
  override readonly recovery;
  readonly handlers: Handlers<ClientToServerEvents, Client>;

  constructor({ room: name, settings, log, state, meter = new Meter(), durable, ...outside }: ChatDependencies) {
    super();
    this.room = new Room({ name, settings, log, state, meter, durable });
    this.features = makeFeatures(this.room, outside);
    this.#requests = new Requests(this.room, this.features.all);
    this.calls = new RoomCalls(this.room, this.features, this.#requests);
    // features.ts makes the compiler demand an operation for each event.
    this.handlers = Object.fromEntries(
      [...this.#requests.events].map((event) => [
        event,
        (client: Client, ...args: unknown[]) => this.#hear(client, event, args),
      ]),
    ) as unknown as Handlers<ClientToServerEvents, Client>;
    const { seenSeq, catchUp, report } = this.room;
    const countChanges = (): number => this.features.changes.count;
    const recoveryLog = new ChatRecoveryLog({ log, seenSeq, catchUp, countChanges, report });
    this.recovery = { log: recoveryLog, windowMs: settings.recoveryWindowMs };
  }

  override onStart(): void {
    const { all, posting, records } = this.features;
    this.room.open(this.context, { all, writer: posting.posts, sanctions: records });
  }

  // ---- coming and going ------------------------------------------------------------------------------------

  override authorize({ identity }: ConnectRequest<Identity>): Verdict<Membership> {
    if (!identity) throw new Error("a chat room requires a verified token");
    const { user, name, role } = identity;
    const data = { user, name, role: this.features.direct.roleOf(role), sinceMs: this.room.now() };
    for (const feature of this.features.all) feature.onToken?.(data, identity);
    // Asked here too, so that a refused client takes no older connection of its user along.
    return this.#refuseEntry(data) ?? { accepted: true, data };
  }

  #refuseEntry(membership: Membership): Refusal | undefined {
    for (const feature of this.features.all) {
      const refusal = feature.admit?.(membership);
      if (refusal) return refusal;
    }
    return undefined;
  }

  override admit(membership: Membership): Refusal | undefined {
    const { name, settings, clients, members } = this.room;
    const taken = { inRoom: clients.size, ofUser: members.connectionsOf(membership.user) };
    return refusePlace(name, taken, settings) ?? this.#refuseEntry(membership);
  }

  override ownerOf({ user }: Membership): string {
    return this.features.bans.ownerOf(user);
  }

  /** CHAT-1. */
  override onConnect(client: Client): void {
    // A newcomer reads the log from here on: what the others have seen has to be in it.
    this.room.catchUp();
    for (const feature of this.features.all) feature.onConnect?.(client);
    client.emit("welcome", this.#welcome(client));
    for (const feature of this.features.all) feature.onWelcomed?.(client);
  }

  #welcome(client: Client): Welcome {
    const { user, name, role } = client.peek();
    const { settings, log } = this.room;
    return Object.assign(
      {
        room: this.room.name,
        user,
        name,
        role,
        epoch: log.epoch,
        lastSeq: log.lastSeq,
        ...(log.lastId !== undefined && { lastId: log.lastId }),
        now: this.room.now(),
        settings: {
          maxContentLength: settings.maxContentLength,
          durability: settings.durability,
          messageRate: settings.messageRate.perSecond,
          messageBurst: settings.messageRate.burst,
          editWindowSeconds: settings.editWindowMs / 1000,
        },
      },
      ...this.features.all.map((feature) => feature.welcome?.(client)),
    ) as Welcome;
  }

  override onRestore(client: Client): void {
    for (const feature of this.features.all) feature.onRestore?.(client);
  }

  override onRefresh(client: Client, identity: Identity): void {
    for (const feature of this.features.all) {
      feature.onToken?.(client.data, identity);
      feature.onRefresh?.(client, identity);
    }
  }

  override onDisconnect(client: Client): void {
    for (const feature of this.features.all) feature.onDisconnect?.(client);
  }

  // ---- what members ask ------------------------------------------------------------------------------------

  override onUnknownEvent(client: Client, event: string, args: readonly unknown[]): void {
    void this.#hear(client, event, args);
  }

  #hear(client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    const caller = this.features.callerOf(client.peek(), client);
    const ack = args.at(-1);
    const given = typeof ack === "function" && args.length === 1 ? undefined : args[0];
    const reply = typeof ack === "function" ? (ack as Reply<Answer<object>>) : errorTo(client);
    return this.#requests.perform({ event, caller, given, reply });
  }
}

/** Without an ack callback only an error is worth sending, as event `error`. */
function errorTo(client: Client): Reply<Answer<object>> {
  return (answer) => {
    if ("error" in answer) client.emit("error", answer.error);
  };
}
