// The clients of a run: the stock socket.io-client over every transport, and the client with extensions. Both are the real ones; only
// their network is simulated. Called by run.ts, faults.ts and verdict.ts.
import { Fetch, io, NodeWebSocket, type Socket } from "socket.io-client";

import type { Room, SentAnswer } from "../../client/core/api.ts";
import { connectRoom } from "../../client/core/room.ts";
import type { Message, Notice, PostAnswer, Welcome } from "../../src/protocol/chat-events.ts";
import { newChain, type Chain } from "./chain.ts";
import type { Link, Network } from "./network.ts";
import { epochOf, offsetOf, setOffset } from "./offset.ts";
import { FakeLocalStorage } from "../host/fake-local-storage.ts";
import type { PlannedClient } from "./plan.ts";
import { REFUSED } from "./refusals.ts";
import { Typists } from "./typists.ts";
import type { World, Zone } from "./world.ts";
import type { Witness } from "./witness.ts";

export const ORIGIN = "http://rooms.example";

/** A client that got no ack posts the same text again after this. */
const AGAIN_MS = 7000;

/** The lifetime of tokens that outlive every run. */
const LONG_SECONDS = 1_000_000;

interface Said {
  readonly content: string;
  readonly clientMsgId: string | undefined;
  state: "open" | "acked" | "refused" | "failed";
  code?: string;
  /** The number of the connection over which it was posted last; absent once it is answered. */
  postedOver?: number | undefined;
}

export interface Surroundings {
  readonly world: World;
  readonly network: Network;
  readonly witness: Witness;
}

export abstract class Person {
  readonly plan: PlannedClient;
  readonly zone: Zone;
  readonly link: Link;
  readonly said: Said[] = [];
  /** Whether all faults have ended: its tokens do not expire any more. */
  isCalm = false;
  /** Whether it has joined and not left; the connection may be broken meanwhile. */
  isHere = false;
  /** The last number of members that the room sent. */
  count: number | undefined;
  epoch: string | undefined;
  /** Ids of messages that it has seen. */
  readonly seenIds: string[] = [];
  readonly typists = new Typists();
  protected readonly around: Surroundings;

  constructor(plan: PlannedClient, around: Surroundings) {
    this.plan = plan;
    this.around = around;
    this.zone = around.world.makeZone(`client ${plan.name}`);
    const [minMs, maxMs] = plan.latencyMs;
    this.link = {
      client: plan.name,
      chance: this.zone.chance.branch("line"),
      minMs,
      maxMs,
      isOffline: false,
      lossProbability: 0,
    };
    around.network.link(this.zone, this.link);
  }

  abstract get isConnected(): boolean;
  abstract get last(): number | undefined;
  /** Whether it has queued messages that it has not sent yet. */
  get isSending(): boolean {
    return false;
  }
  abstract join(): void;
  abstract leave(): void;
  abstract say(): void;
  /** Emits with an ack callback. */
  abstract call(event: string, payload: object, done?: (answer: unknown) => void): void;
  /** Leaves, and comes back with the memory of a reloaded page. */
  abstract reload(forMs: number): void;

  protected nextText(): Said {
    const { name, insists, kind } = this.plan;
    const content = `${name} says ${this.said.length}`;
    const hasId = kind === "shim" || insists !== "not";
    const said: Said = { content, clientMsgId: hasId ? `${name}-${this.said.length}` : undefined, state: "open" };
    this.said.push(said);
    this.around.witness.silences.said(content);
    return said;
  }

  /** A token that the rooms accept: in a simulation nobody signs tokens. */
  protected token(): string {
    const { user, ttlSeconds } = this.plan;
    // By the true time, not that of a client or a room.
    const exp =
      Math.floor(this.around.world.nowMs / 1000) + (this.isCalm ? LONG_SECONDS : (ttlSeconds ?? LONG_SECONDS));
    return JSON.stringify({ user, name: user.toUpperCase(), role: "member", exp });
  }

  protected heard(said: Said, answer: SentAnswer | PostAnswer | undefined): void {
    if (!answer) return;
    said.postedOver = undefined;
    if ("ok" in answer) {
      said.state = "acked";
      return this.around.witness.acked(this.plan.name, said.content, answer);
    }
    if (!REFUSED.has(answer.error.code) || said.state === "acked") return;
    said.state = "refused";
    said.code = answer.error.code;
  }
}

export class StockPerson extends Person {
  socket: Socket | undefined;
  readonly chain: Chain;
  #notice: Notice | undefined;
  readonly offsets: string[] = [];
  #connections = 0;
  /** A false offset that a fault gave to the socket; absent again after the next connect. */
  #planted: { readonly offset: string; readonly seq: number | undefined } | undefined;

  constructor(plan: PlannedClient, around: Surroundings) {
    super(plan, around);
    this.chain = newChain(plan.name);
  }

  get isConnected(): boolean {
    return this.socket?.connected ?? false;
  }

  get last(): number | undefined {
    return this.chain.last;
  }

  /** Posts over the present connection that have no answer yet. */
  get unanswered(): Said[] {
    return this.isConnected ? this.said.filter(({ postedOver }) => postedOver === this.#connections) : [];
  }

  join(): void {
    this.isHere = true;
    this.around.world.within(this.zone, () => {
      if (!this.socket) this.#open();
      else if (!this.socket.active) this.socket.connect();
    });
  }

  leave(): void {
    this.isHere = false;
    this.around.world.within(this.zone, () => this.socket?.disconnect());
  }

  reload(forMs: number): void {
    this.leave();
    this.around.world.after(forMs, this.zone, () => {
      // Another step may have let it join meanwhile.
      this.socket?.disconnect();
      this.socket = undefined;
      this.chain.id = undefined;
      this.join();
    });
  }

  #open(): void {
    const { kind, room, recovers, insists } = this.plan;
    const transports = { websocket: [NodeWebSocket], polling: [Fetch], upgrading: [Fetch, NodeWebSocket], shim: [] }[
      kind
    ];
    const socket = io(ORIGIN, {
      path: `/rooms/${room}/socket.io`,
      transports,
      forceNew: true,
      query: { recovery: recovers ? "on" : "off" },
      auth: (give) => {
        this.#resume(socket);
        give({ token: this.token() });
      },
      ...(insists === "retries" && { retries: 12, ackTimeout: AGAIN_MS }),
    });
    this.socket = socket;
    socket.on("connect", () => this.#onConnect(socket));
    socket.on("welcome", (welcome: Welcome) => this.#onWelcome(welcome));
    socket.on("chat-message", (message: Message, offset?: string) => this.#onMessage(message, offset));
    this.typists.follow(socket);
    socket.on("presence", ({ count }: { count: number }) => (this.count = count));
    socket.on("notice", (notice: Notice) => (this.#notice = notice));
    socket.on("connect_error", (error: Error & { data?: { code?: string; retryAfterMs?: number } }) => {
      if (!socket.active) this.#retry(error.data?.code, error.data?.retryAfterMs);
    });
    socket.on("disconnect", (reason) => {
      if (reason === "io server disconnect") this.#retry(this.#notice?.code, this.#notice?.retryAfterMs);
    });
  }

  /** Connects again later, as a page does after the room refused it. */
  #retry(code: string | undefined, retryAfterMs = 1000): void {
    if (code === "KICKED" || (code === "BANNED" && retryAfterMs === 1000)) return;
    const { world } = this.around;
    world.after(
      retryAfterMs,
      this.zone,
      () => this.isHere && this.socket && !this.socket.active && this.socket.connect(),
    );
  }

  /** Expects what the offset promises that leaves now: more messages may have come after a fault had replaced it. */
  #resume(socket: Socket): void {
    if (!this.#planted || offsetOf(socket) !== this.#planted.offset) return;
    const { seq } = this.#planted;
    this.chain.mayRecover = seq !== undefined;
    this.chain.last = seq ?? this.chain.last;
  }

  #onConnect(socket: Socket): void {
    this.#notice = undefined;
    this.#planted = undefined;
    this.#connections++;
    this.around.witness.connected(this.chain, socket.id!, socket.recovered);
    if (this.plan.insists === "again") for (const said of this.said) if (said.state === "open") this.#post(said);
  }

  #onWelcome({ epoch, lastSeq, presence }: Welcome): void {
    this.epoch = epoch;
    this.count = presence.count;
    this.around.witness.welcomed(this.chain, epoch, lastSeq);
  }

  #onMessage(message: Message, offset: string | undefined): void {
    this.seenIds.push(message.id);
    if (offset !== undefined) this.offsets.push(offset);
    this.around.witness.saw(this.chain, message);
  }

  say(): void {
    if (!this.socket) return;
    const said = this.nextText();
    this.around.world.within(this.zone, () => this.#post(said));
    if (this.plan.insists === "again") this.#insist(said);
  }

  #insist(said: Said): void {
    this.around.world.after(AGAIN_MS, this.zone, () => {
      const hasLeft = this.isCalm && !this.isHere;
      if (said.state !== "open" || hasLeft) return;
      if (this.isConnected) this.#post(said);
      this.#insist(said);
    });
  }

  #post(said: Said): void {
    const { content, clientMsgId } = said;
    this.around.witness.saidOrder.said(content, this.plan, this.#connections + (this.isConnected ? 0 : 1));
    const payload = clientMsgId === undefined ? { content } : { content, clientMsgId };
    if (this.plan.insists !== "retries") {
      if (this.isConnected) said.postedOver = this.#connections;
      return void this.socket!.emit("chat-message", payload, (answer: PostAnswer) => this.heard(said, answer));
    }
    this.socket!.emit(
      "chat-message",
      payload,
      (error: Error | null, answer: PostAnswer) => !error && this.heard(said, answer),
    );
  }

  call(event: string, payload: object, done: (answer: unknown) => void = () => {}): void {
    // With `retries` the stock client calls back with an error first.
    const hear = this.plan.insists === "retries" ? (_error: unknown, answer: unknown): void => done(answer) : done;
    this.around.world.within(this.zone, () => {
      if (this.isConnected) this.socket!.emit(event, payload, hear);
    });
  }

  /** Gives the socket the offset of an earlier message. @returns whether there was one */
  forget(back: number): boolean {
    const offset = this.offsets.at(-1 - back);
    const { socket, chain } = this;
    if (offset === undefined || !socket || chain.last === undefined) return false;
    const [log, seq] = offset.split(".") as [string, string];
    if (epochOf(log) !== chain.epoch) return false;
    return this.#plant(socket, offset, Math.max(Number.parseInt(seq, 36), chain.begun));
  }

  /** Gives the socket an offset of a log that this room never had. @returns whether it had an offset */
  confuse(): boolean {
    if (!this.socket || this.offsets.length === 0) return false;
    const foreign = this.offsets.at(-1)!.replace(/^[^.]*/, (epoch) => epoch.split("").reverse().join(""));
    return this.#plant(this.socket, foreign, undefined);
  }

  /** @param seq the message to which the offset leads; `undefined` for none */
  #plant(socket: Socket, offset: string, seq: number | undefined): boolean {
    setOffset(socket, offset);
    this.#planted = { offset, seq };
    return this.#cutOff();
  }

  #cutOff(): true {
    this.around.world.within(this.zone, () => this.socket?.io.engine?.close());
    return true;
  }
}

export class ShimPerson extends Person {
  room: Room | undefined;
  #last: number | undefined;
  readonly gaps: Array<{ from: number; to: number; reason: string }> = [];
  readonly #storage = new FakeLocalStorage();

  get isConnected(): boolean {
    return this.room?.connection.state === "connected";
  }

  get last(): number | undefined {
    return this.#last;
  }

  override get isSending(): boolean {
    return this.isConnected && this.said.some(({ state }) => state === "open");
  }

  join(): void {
    this.isHere = true;
    this.around.world.within(this.zone, () => {
      if (this.room) this.room.connect();
      else this.#open();
    });
  }

  leave(): void {
    this.isHere = false;
    this.around.world.within(this.zone, () => this.room?.close());
    this.room = undefined;
  }

  reload(forMs: number): void {
    this.leave();
    this.around.world.after(forMs, this.zone, () => this.join());
  }

  #open(): void {
    const { room: name } = this.plan;
    const room = connectRoom(ORIGIN, name, { token: async () => this.token(), storage: this.#storage });
    this.room = room;
    this.#last = undefined;
    const isMine = (): boolean => this.room === room;
    room.on("welcome", ({ epoch, lastSeq, presence }) => {
      this.epoch = epoch;
      this.count = presence.count;
      this.#last ??= lastSeq;
    });
    this.typists.follow(room);
    room.on("presence", ({ count }) => (this.count = count));
    room.on("chat-message", (message) => {
      if (!isMine()) return;
      this.seenIds.push(message.id);
      this.around.witness.handedOn(this.plan.name, message, this.#last);
      this.#last = message.seq;
    });
    room.on("gap", (gap) => {
      this.gaps.push(gap);
      this.around.witness.skipped(this.plan.name, this.epoch ?? "", gap);
      this.#last = gap.to;
    });
    room.on("restart", () => (this.#last = 0));
    room.on("message-state", (state) => {
      const said = this.said.find(({ clientMsgId }) => clientMsgId === state.clientMsgId)!;
      if (state.state === "sent") this.heard(said, state.answer);
      if (state.state !== "failed") return;
      said.state = "failed";
      said.code = state.error.code;
    });
  }

  say(): void {
    if (!this.room) return;
    const { content, clientMsgId } = this.nextText();
    this.around.world.within(this.zone, () => {
      this.room!.send(content, { clientMsgId: clientMsgId! }).catch(() => {});
    });
  }

  call(event: string, payload: object, done: (answer: unknown) => void = () => {}): void {
    this.around.world.within(this.zone, () => {
      const socket = this.room?.socket as unknown as Socket | undefined;
      if (this.isConnected && socket?.connected) socket.emit(event, payload, done);
    });
  }
}

export function makePerson(plan: PlannedClient, around: Surroundings): StockPerson | ShimPerson {
  return plan.kind === "shim" ? new ShimPerson(plan, around) : new StockPerson(plan, around);
}
