// A chat room for tests: the chat core over a log in memory, with tokens that need no keys.
import { setImmediate } from "node:timers/promises";

import { Chat } from "../../src/chat/chat.ts";
import type { ChatDependencies, InRoom } from "../../src/chat/parts.ts";
import { Listing, type ReportToLobby } from "../../src/features/directory/listing.ts";
import { Links } from "../../src/features/relay/links.ts";
import { Relayed } from "../../src/features/relay/relayed.ts";
import { LEAVE_GATHER_MS, LEAVE_GRACE_MS } from "../../src/chat/people/presence.ts";
import { ReadAllowance } from "../../src/chat/room/read-allowance.ts";
import { Announced } from "../../src/features/announcements/announced.ts";
import { DirectMessages } from "../../src/features/direct-messages/direct-messages.ts";
import { Searching } from "../../src/features/search/searching.ts";
import { Threads } from "../../src/features/threads/threads.ts";
import { Webhooks, type Deliver } from "../../src/features/webhooks/webhooks.ts";
import type { ChatSettings } from "../../src/chat/room/room.ts";
import { TokenBuckets } from "../../src/clock/rates.ts";
import type { Meter } from "../../src/metrics/meter.ts";
import type { Answer, Role } from "../../src/protocol/chat-events.ts";
import type { Authentication, Identity } from "../../src/protocol/identity.ts";
import { DIRECT_OPENINGS } from "../../src/protocol/direct-room.ts";
import { refuse } from "../../src/protocol/refuse.ts";
import { roomAllowed } from "../../src/protocol/room-name.ts";
import type { LinkTransport } from "../../src/relay/transport.ts";
import type { ServerPorts } from "../../src/socketio/server/server.ts";
import type { Handshake } from "../../src/socketio/engine/session.ts";
import type { ServerOptions } from "../../src/socketio/server/server.ts";
import type { AnyAnswer } from "./client.ts";
import { FakeShell, START_MS, type Client } from "./harness.ts";
import { MemoryIndex } from "./memory-index.ts";
import { MemoryLog } from "./memory-log.ts";
import { MemoryState } from "./memory-state.ts";

export const ROOM = "plaza";

export const SETTINGS: ChatSettings = {
  messageRate: { perSecond: 10, burst: 10 },
  maxContentLength: 1000,
  editWindowMs: 86_400_000,
  historyMs: 30 * 86_400_000,
  flushWindowMs: 50,
  // Each batch waits for its window, so that a test sees the room gather posts.
  flushBurst: 1,
  durability: "strict",
  guestRatePerIp: 0,
  maxMembers: 5000,
  crowdMembers: 200,
  crowdShownRate: 0,
  maxConnectionsPerUser: 0,
  maxRoomsPerUser: 0,
  newRoomsPerUser: 0,
  recoveryWindowMs: 120_000,
};

/** Calls to queue, lobby or files of which each may cause the next, at the end of `pass`. */
const ANSWERS_MAX = 20;

/** For tests that post faster than the usual rate limit allows. */
export const UNLIMITED = { perSecond: 10_000, burst: 10_000 };

export type Person = Partial<Identity> & Pick<Identity, "user">;

export const identityOf = (person: string | Person): Identity => {
  const given = typeof person === "string" ? { user: person } : person;
  return { name: given.user, role: "member", ...given };
};

/** `exp` of a token that ends so many seconds after the tests began. */
export const expiresIn = (seconds: number): number => START_MS / 1000 + seconds;

/** Of a client that can recover, as stock clients can. */
export const RECOVERS: Partial<Handshake> = { canRecover: true };

/** By which a client asks for the connection that it had. */
export const recoveryAuthOf = (client: Client) => ({
  ...(client.accepted() as { readonly sid: string; readonly pid: string }),
  offset: client.events().at(-1)?.event.at(-1) as string,
});

/** The parts of a room besides its storage; a test gives those that it needs. */
export type RoomParts = Partial<
  Pick<ChatDependencies, "files" | "durable" | "readAllowance" | "rules" | "custom" | "shards" | "userRooms">
> & {
  readonly name?: string;
  readonly epoch?: string;
  /** Queues webhook events; absent: no webhook is set. */
  readonly deliver?: Deliver;
  /** Carries messages to linked rooms; absent: none are passed on. */
  readonly relay?: LinkTransport | undefined;
  /** Sends reports to the lobby; absent: there is no lobby. */
  readonly reportToLobby?: ReportToLobby | undefined;
};

type Outside = Pick<RoomParts, "deliver" | "relay" | "reportToLobby">;

const NO_OTHER_ROOMS = refuse("FORBIDDEN", "There are no other rooms here");

/** The features that every deployment has unless it says otherwise, over memory. */
function featuresOver(index: MemoryIndex, { deliver, relay, reportToLobby }: Outside): InRoom[] {
  return [
    { name: "search", roomPart: (room, { readAllowance }) => new Searching(room, index, readAllowance) },
    { name: "threads", roomPart: (room, chat) => new Threads(room, chat) },
    {
      name: "direct-messages",
      roomPart: (room, chat) => {
        const openings = new TokenBuckets(DIRECT_OPENINGS);
        return new DirectMessages(room, chat, { open: async () => NO_OTHER_ROOMS, openings });
      },
    },
    {
      name: "relay",
      roomPart: (room, { changes, editing }) => {
        const [links, relayed] = [new Links(room, changes, relay), new Relayed(room, editing)];
        return { links, relayed, parts: [links, relayed] };
      },
    },
    { name: "announcements", roomPart: (room, chat) => new Announced(room, chat) },
    {
      name: "webhooks",
      roomPart: (room, { direct }) => (deliver && !direct.isDirect ? new Webhooks(room, deliver) : undefined),
    },
    { name: "directory", roomPart: (room, chat) => reportToLobby && new Listing(room, chat, reportToLobby) },
  ];
}

export class ChatRoom {
  readonly log: MemoryLog;
  readonly state = new MemoryState();
  readonly index = new MemoryIndex();
  /** Of the chat that starts or wakes next. */
  handedIn: readonly InRoom[];
  readonly shell: FakeShell;
  /** The chat that is awake. */
  chat!: Chat;
  /** Waited for before each decision on a token. */
  authenticating: Promise<void> | undefined;
  /** While set, no token can be verified, for so long at least. */
  keysUnavailableMs: number | undefined;
  readonly #tokens = new Map<string, Identity>();

  constructor(
    settings: Partial<ChatSettings> = {},
    options: Partial<ServerOptions> = {},
    { name = ROOM, epoch, deliver, relay, reportToLobby, ...outside }: RoomParts = {},
  ) {
    this.log = new MemoryLog(epoch);
    this.handedIn = featuresOver(this.index, { relay, reportToLobby, ...(deliver && { deliver }) });
    const tokens: ServerPorts["tokens"] = {
      room: name,
      opens: ({ rooms }: Identity) => roomAllowed(rooms, name),
      authenticate: (token) => this.#authenticate(token),
    };
    const create = (meter: Meter): Chat => {
      this.log.reopen();
      this.chat = new Chat({
        room: name,
        log: this.log,
        state: this.state,
        handedIn: this.handedIn,
        readAllowance: new ReadAllowance(),
        settings: { ...SETTINGS, ...settings },
        meter,
        ...outside,
      });
      return this.chat;
    };
    this.shell = new FakeShell((meter) => ({ "/": create(meter) }), { ...options, tokens });
    this.shell.afterTurn = () => this.chat.room.endTurn();
    this.log.onReserve = (seq) => this.shell.journal.push(`reserve ${seq}`);
    this.log.onAppend = (batch) => this.shell.journal.push(`append ${batch.map(({ seq }) => seq).join(",")}`);
  }

  /** The links of the room, and the batches that it takes. */
  get relay(): { readonly links: Links; readonly relayed: Relayed } {
    return this.chat.part("relay") as ReturnType<typeof this.chat.part> & typeof this.relay;
  }

  get direct(): DirectMessages {
    return this.chat.part("direct-messages") as DirectMessages;
  }

  /** What the room does with announcements. */
  get announced(): Announced {
    return this.chat.part("announcements") as Announced;
  }

  /** A token that the room accepts. */
  token(person: string | Person): string {
    const token = `token-${this.#tokens.size}`;
    this.#tokens.set(token, identityOf(person));
    return token;
  }

  async #authenticate(token: string): Promise<Authentication> {
    await this.authenticating;
    if (this.keysUnavailableMs !== undefined) {
      return { ok: false, code: "UNAVAILABLE", message: "No keys just now", retryAfterMs: this.keysUnavailableMs };
    }
    const identity = this.#tokens.get(token);
    if (!identity) return { ok: false, code: "UNAUTHORIZED", message: "The token is not valid" };
    if (identity.exp !== undefined && identity.exp * 1000 <= this.shell.nowMs) {
      return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
    }
    return { ok: true, identity };
  }

  /** Runs a call of another object as a turn, as the shell does. */
  turn(work: () => void): void {
    this.shell.activeAtMs = this.shell.nowMs;
    this.shell.turn(work);
  }

  /** Connects a person whose token the Worker has verified. */
  async join(person: string | Person, handshake: Partial<Handshake> = {}, auth?: object): Promise<Client> {
    const identity = identityOf(person);
    const client = this.shell.open({ identity, ...handshake });
    client.name = identity.user;
    return client.connect(auth);
  }

  /** Calls without a connection, as the HTTP API does. @returns at once; the answer may come later */
  call(event: string, user: string, payload: unknown, role: Role = "service"): { answer: Answer<object> | undefined } {
    const call: { answer: Answer<object> | undefined } = { answer: undefined };
    this.shell.activeAtMs = this.shell.nowMs;
    const bearer = { user, name: user, role };
    const reply = (answer: Answer<object>): void => void (call.answer = answer);
    void this.chat.requests.perform({ event, bearer, given: payload, reply });
    this.shell.rest();
    return call;
  }

  /** Connects with a token in the CONNECT packet. */
  joinWithToken(token: unknown): Promise<Client> {
    return this.shell.connect({}, { token });
  }

  /** Calls without a connection and waits for the answer. A plain name stands for a member. */
  async ask(event: string, person: string | Person, payload: unknown): Promise<AnyAnswer> {
    const { user, name, role } = identityOf(person);
    const answer = Promise.withResolvers<AnyAnswer>();
    const bearer = { user, name, role };
    const call = this.chat.requests.perform({ event, bearer, given: payload, reply: answer.resolve });
    this.shell.rest();
    await call;
    return answer.promise;
  }

  /** Lets time pass deadline by deadline; calls to the outside (queue, lobby, files) are answered in between. */
  async pass(ms: number): Promise<void> {
    const endMs = this.shell.nowMs + ms;
    while (this.shell.nowMs < endMs) {
      this.shell.advance(Math.max(0, Math.min(this.shell.quietMs, endMs - this.shell.nowMs)));
      await setImmediate();
    }
    for (let turn = 0; turn < ANSWERS_MAX; turn++) {
      this.shell.advance(0);
      await setImmediate();
    }
  }

  /** Lets every window close, so that all gathered events are sent. */
  quiet(): void {
    this.shell.advance(1000);
  }

  /** Waits until absent users who did not come back have left. */
  afterGrace(): void {
    this.shell.advance(LEAVE_GRACE_MS + LEAVE_GATHER_MS + 1000);
  }
}

/** A room in which everyone was announced and nothing is pending. */
export async function roomWith(...users: Array<string | Person>): Promise<{ room: ChatRoom; people: Client[] }> {
  const room = new ChatRoom();
  const people: Client[] = [];
  for (const user of users) people.push(await room.join(user));
  room.quiet();
  for (const { packets } of people) packets.length = 0;
  return { room, people };
}
