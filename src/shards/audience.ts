// The part of a big room's audience that one shard holds: a namespace like the room's own, which asks the room about every CONNECT and event,
// and carries out the pieces of its feed. Made by durable/create-shard.ts; the Socket.IO server calls it as a namespace.
import type { Deadline } from "../clock/deadlines.ts";
import type {
  Answer,
  Message,
  ModerationChange,
  RefusalCode,
  Role,
  ServerToClientEvents,
  Welcome,
} from "../protocol/chat-events.ts";
import { TokenBuckets } from "../clock/token-bucket.ts";
import type { Identity } from "../protocol/identity.ts";
import { REQUEST_LIMIT } from "../protocol/limits.ts";
import { readAs } from "../protocol/read-as.ts";
import { refuse } from "../protocol/refuse.ts";
import { isStaff } from "../protocol/roles.ts";
import { readSchema } from "../protocol/schemas/reading.ts";
import { refreshTokenSchema } from "../protocol/schemas/tokens.ts";
import { typingSchema } from "../protocol/schemas/typing.ts";
import {
  STAFF_CHANNEL,
  userChannel,
  type LogPlace,
  type ShardItem,
  type ShardMember,
  type ShardPiece,
} from "../protocol/shards.ts";
import { Recovery } from "../socketio/recovery/recovery.ts";
import type { EventsMap } from "../socketio/server/events.ts";
import {
  CONTEXT,
  HANDLE_EVENT,
  Namespace,
  type AuthorizeResult,
  type ConnectRequest,
  type Refusal,
} from "../socketio/server/namespace.ts";
import type { Socket } from "../socketio/server/socket.ts";
import { CLOSINGS, type Closing } from "../socketio/wire/closings.ts";
import { RoomLink, type RoomLinkPorts } from "./room-link.ts";
import { ShardLog } from "./shard-log.ts";

/** Stored when so long nothing has happened: before the shard can fall asleep. */
const QUIET_MS = 1000;

/** How long a client waits with a request for which a busy room has no space. */
const BUSY_MS = 1000;

/** What a shard keeps through its sleep. */
export interface KeptPlace {
  readonly place: LogPlace;
  /** Of the room's log. */
  readonly key: string;
  /** Its connections. After a death, and over long-polling after sleep, there are fewer, of which the room has to hear. */
  readonly sockets: number;
}

export interface AudiencePorts extends Pick<RoomLinkPorts, "report"> {
  readonly settings: {
    readonly maxMembers: number;
    readonly maxConnectionsPerUser: number;
    readonly recoveryWindowMs: number;
  };
  readonly kept: KeptPlace | undefined;
  keep(kept: KeptPlace): void;
  /** Counts a series for `GET /metrics`. */
  count(series: string, by: number): void;
  /** Counts since the last call. */
  takeCounts(): Readonly<Record<string, number>> | undefined;
  close(client: Client, closing: Closing): void;
}

type Client = Socket<ServerToClientEvents, ShardMember>;

export class Audience extends Namespace<EventsMap, ServerToClientEvents, ShardMember> {
  /** The room has operations for all events, known or not: `HANDLE_EVENT`. */
  readonly handlers = {};
  override readonly recovery: Recovery | undefined;
  readonly #ports: AudiencePorts;
  readonly #log = new ShardLog();
  /** Of members who are about to be let in. */
  readonly #welcomes = new WeakMap<ShardMember, Welcome>();
  readonly #resting = new TokenBuckets(REQUEST_LIMIT);
  #link!: RoomLink;
  #keepPlace!: Deadline;
  #place: LogPlace | undefined;
  /** The instance of the room that sent the last piece. */
  #room: string | undefined;

  constructor(ports: AudiencePorts) {
    super();
    const { settings, kept } = ports;
    this.#ports = ports;
    if (kept) {
      this.#place = kept.place;
      this.#log.move(kept.place);
      this.#log.key = kept.key;
    }
    const { recoveryWindowMs } = settings;
    this.recovery = recoveryWindowMs > 0 ? new Recovery(this.#log, recoveryWindowMs) : undefined;
  }

  override onStart(): void {
    const { now, newId, report, deadlines } = this[CONTEXT];
    this.#link = new RoomLink({
      report: this.#ports.report,
      count: () => {
        const counts = this.#ports.takeCounts();
        const users = this.channels.size - (this.channels.has(STAFF_CHANNEL) ? 1 : 0);
        return { sockets: this.sockets.size, users, ...(counts && { counts }) };
      },
      now,
      newId,
      turn: (work) => this[CONTEXT].turn(work),
      deadline: (name, run, options) => deadlines.add(name, run, options),
      problem: report,
    });
    this.#keepPlace = deadlines.add("shard-place", () => this.#keep(), { keepsAwake: true });
  }

  override onWake(): void {
    if (this.sockets.size !== (this.#ports.kept?.sockets ?? 0)) this.#changed();
  }

  /** A connection came or went. */
  #changed(): void {
    this.#link.changed();
    this.#keepSoon();
  }

  #keepSoon(): void {
    this.#keepPlace.set(this[CONTEXT].now() + QUIET_MS);
  }

  #keep(): void {
    const { size: sockets } = this.sockets;
    // Tries again where that fails: a place of long ago would have messages shown twice.
    this.#keepSoon();
    if (this.#place) this.#ports.keep({ place: this.#place, key: this.#log.key, sockets });
    this.#keepPlace.clear();
  }

  // ---- connections -----------------------------------------------------------------------------------------

  override async authorize({ identity, auth }: ConnectRequest<Identity>): Promise<AuthorizeResult<ShardMember>> {
    if (!identity) throw new Error("a chat room requires a verified token");
    const verdict = await this.#link.join(identity, this.#recoversAfter(auth));
    if (!verdict.accepted) return verdict;
    this.#welcomes.set(verdict.member, verdict.welcome);
    return { accepted: true, data: verdict.member };
  }

  /** The seq of an offset that a client names, where the log here does not reach back to it. The offset is checked later, with the pid. */
  #recoversAfter({ pid, offset }: ConnectRequest["auth"]): number | undefined {
    if (typeof pid !== "string" || !this.recovery) return undefined;
    const named = typeof offset === "string" ? offset : pid.slice(0, pid.lastIndexOf("."));
    const seq = Number.parseInt(named.slice(named.lastIndexOf(".") + 1), 36);
    // Without a connection the place may be one of long ago.
    const isKnown = this.#place !== undefined && this.sockets.size > 0 && this.#log.hasAllAfter(seq);
    return seq >= 0 && !isKnown ? seq : undefined;
  }

  /** LIM-7: both limits hold for each object by itself. */
  override admit({ user }: ShardMember): Refusal | undefined {
    const { maxMembers, maxConnectionsPerUser } = this.#ports.settings;
    if (this.sockets.size >= maxMembers) return deny("ROOM_FULL", "This part of the room is full");
    const ofUserMax = maxConnectionsPerUser || Infinity;
    if ((this.channels.get(userChannel(user))?.size ?? 0) < ofUserMax) return undefined;
    return deny("TOO_MANY_CONNECTIONS", `At most ${ofUserMax} connections of one user to one room`);
  }

  override ownerOf({ owner }: ShardMember): string {
    return owner;
  }

  override onConnect(client: Client): void {
    const member = client.peek();
    const welcome = this.#welcomes.get(member)!;
    client.join(userChannel(member.user));
    setStaff(client, welcome.role);
    // A mark from before the room grew stays where it is: news would seem to begin there for ever.
    const read = { unread: 0, readSeq: welcome.lastSeq };
    client.emit("welcome", { ...welcome, ...read, now: this[CONTEXT].now(), rests: ["typing", "read"] });
    this.#changed();
  }

  override onRefresh(client: Client, { name, role }: Identity): void {
    const member = client.peek();
    client.data = { ...member, name, role };
    // With the same role a grant still counts.
    if (role !== member.role) setStaff(client, role);
  }

  override onDisconnect(): void {
    this.#changed();
  }

  override [HANDLE_EVENT](client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    const ack = args.at(-1);
    const given = typeof ack === "function" && args.length === 1 ? undefined : args[0];
    const reply = typeof ack === "function" ? (ack as (answer: Answer<object>) => void) : errorTo(client);
    if (rests(event, given)) return this.#rest(client, reply);
    if (event === "refresh-token") {
      const parsed = readAs(refreshTokenSchema, given);
      if (parsed.success) return this[CONTEXT].refreshToken(client as Socket, parsed.data.token, reply);
    }
    const text = textOf(given);
    const { exp } = client.token ?? {};
    if (text === null) return reply(refuse("INVALID_PAYLOAD", "The payload is no JSON"));
    const isTaken = this.#link.ask(
      {
        socket: client.id,
        address: client.handshake.address,
        member: client.peek(),
        event,
        ...(exp !== undefined && { exp }),
        ...(text !== undefined && { given: text }),
      },
      reply,
      () => this.#ports.close(client, CLOSINGS.restart),
    );
    if (!isTaken) reply(refuse("RATE_LIMITED", "The room is busy; try again.", BUSY_MS));
  }

  /** CHAT-6 holds here, too: an answer costs the shard something. */
  #rest(client: Client, reply: (answer: Answer<object>) => void): void {
    const taking = this.#resting.take(client.peek().user, this[CONTEXT].now());
    const limited = "Rate limit exceeded: too many requests.";
    reply(taking.ok ? { ok: true } : refuse("RATE_LIMITED", limited, taking.retryAfterMs));
  }

  // ---- the feed --------------------------------------------------------------------------------------------

  get place(): LogPlace | undefined {
    return this.#place;
  }

  /** Carries out the items of a piece, in one turn. */
  carryOut(items: readonly ShardItem[], { before, after }: Pick<ShardPiece, "before" | "after">): void {
    this[CONTEXT].turn(() => {
      this.#log.move(before);
      for (const item of items) this.#step(item);
      this.#log.move(after);
    });
    if (this.#room !== after.by) this.#meet(after.by);
    this.#place = after;
    this.#keepSoon();
  }

  /** Another instance of the room, or the first one that this shard hears of, does not know how many are here. */
  #meet(instance: string): void {
    this.#room = instance;
    this.#link.forgottenBut(instance);
    this.#link.changed();
  }

  #step(item: ShardItem): void {
    switch (item.type) {
      case "emit":
        if (item.seqs) this.#log.show(item.argLists.map(([message]) => message as Message));
        if (item.event === "moderation") this.#regard(item.argLists[0]![0] as ModerationChange);
        return this[CONTEXT].hub.emitAll(item.audience, item.event, item.argLists, item.seqs);
      case "answer":
        return this.#link.answered(item.id, item.answer);
      case "verdict":
        if (item.verdict.accepted) this.#log.key = item.verdict.key;
        return this.#link.decided(item.id, item.verdict);
      case "earlier":
        return this.#log.fill(item.messages, item.life);
      case "dismiss":
        for (const client of this.#dismissed(item)) {
          if (item.notice) client.emit("notice", item.notice);
          client.disconnect(true);
        }
        return;
      case "lost":
        this.#ports.count(`shard_sent_away:${item.isHomeward ? "home" : "gap"}`, this.sockets.size);
        for (const client of this.everyone.fetchSockets()) this.#ports.close(client, CLOSINGS.restart);
    }
  }

  /** A grant, and its end, change who hears what is for moderators. */
  #regard({ action, user, role }: ModerationChange): void {
    if (action !== "grant" && action !== "revoke") return;
    for (const client of this.to(userChannel(user!)).fetchSockets()) setStaff(client, role ?? client.peek().role);
  }

  #dismissed({ socket, user, roles }: ShardItem & { type: "dismiss" }): Client[] {
    const channel = socket ?? userChannel(user!);
    const those = this.to(channel).fetchSockets();
    return those.filter((client) => roles === undefined || roles.includes(client.peek().role));
  }
}

/** Counts a member among the moderators, or not. @param role that counts in the room */
function setStaff(client: Client, role: Role): void {
  if (isStaff(role)) client.join(STAFF_CHANNEL);
  else client.leave(STAFF_CHANNEL);
}

const deny = (code: RefusalCode, message: string): Refusal => ({ accepted: false, message, data: { code } });

/** SHD-9: typing and read marks of single members mean nothing to so many. A wrong payload gets the error of the room. */
function rests(event: string, given: unknown): boolean {
  if (event === "typing") return readAs(typingSchema, given).success;
  return event === "read" && readAs(readSchema, given).success;
}

/** @returns the payload as JSON; `undefined` where there is none, `null` where it is not JSON */
function textOf(given: unknown): string | undefined | null {
  try {
    return JSON.stringify(given);
  } catch {
    return null;
  }
}

/** Without an ack callback only an error is worth sending, as event `error`. */
function errorTo(client: Client): (answer: Answer<object>) => void {
  return (answer) => {
    if ("error" in answer) client.emit("error", answer.error);
  };
}
