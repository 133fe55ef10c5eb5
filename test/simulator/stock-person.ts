// A simulated user with the stock socket.io-client, which is the real one, over every transport. Only its network is simulated. Made
// by run.ts, driven by faults.ts and read by verdict.ts.
import { Fetch, io, NodeWebSocket, type Socket } from "socket.io-client";

import type { Message, NotShown, Notice, PostAnswer, Welcome } from "../../src/protocol/chat-events.ts";
import { newChain, type Chain } from "./chain.ts";
import { epochOf, offsetOf, setOffset } from "./offset.ts";
import { ORIGIN, Person, type Said, type Surroundings } from "./person.ts";
import type { PlannedClient } from "./plan.ts";
import type { Restored } from "./restored.ts";

/** A client that got no ack posts the same text again after this. */
const AGAIN_MS = 7000;

export class StockPerson extends Person {
  socket: Socket | undefined;
  readonly chain: Chain;
  #notice: Notice | undefined;
  readonly offsets: string[] = [];
  #connections = 0;
  /** Whether this connection attends to counts, or has done so: then its offset does not lead to the last message of the chain. */
  #attends: "all" | "counts" | "all again" = "all";
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
    const { kind, room, recovers, bundles, insists } = this.plan;
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
        void this.token().then((token) => give({ token, ...(bundles && { bundle: true }) }));
      },
      ...(insists === "retries" && { retries: 12, ackTimeout: AGAIN_MS }),
    });
    this.socket = socket;
    socket.on("connect", () => this.#onConnect(socket));
    socket.on("bundle", (events: ReadonlyArray<readonly [string, ...unknown[]]>) => {
      for (const [event, ...args] of events)
        for (const listener of socket.listeners(event).slice()) listener.apply(socket, args);
    });
    socket.on("welcome", (welcome: Welcome) => this.#onWelcome(welcome));
    socket.on("chat-message", (message: Message, offset?: string) => this.#onMessage(message, offset));
    socket.on("not-shown", (range: NotShown) =>
      this.around.witness.unshown.told(this.chain, this.plan.room, range, this.isFromBefore),
    );
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

  attend(to: "all" | "counts"): void {
    this.call("attend", { to }, (answer) => {
      const { lastSeq } = (answer ?? {}) as { lastSeq?: number };
      if (lastSeq === undefined) return;
      this.#attends = to === "all" && this.#attends !== "all" ? "all again" : to;
      if (this.#attends === "all again") this.around.witness.unshown.jumped(this.chain, lastSeq);
      // The stock client kept the wish for a later connection, from which nobody looks away.
      if (to === "counts" && !this.isAway) this.attend("all");
    });
  }

  /** Expects the messages behind the offset that leaves now: more messages may have come after a fault had replaced it. */
  #resume(socket: Socket): void {
    const offset = offsetOf(socket);
    const { chain } = this;
    if (
      this.#attends !== "all" &&
      chain.last !== undefined &&
      (offset === undefined || epochOf(offset) === chain.epoch)
    )
      chain.last = Math.max(chain.begun, Number.parseInt(offset?.split(".")[1] ?? "0", 36));
    if (!this.#planted || offset !== this.#planted.offset) return;
    const { seq } = this.#planted;
    chain.mayRecover = seq !== undefined;
    chain.last = seq ?? chain.last;
  }

  #onConnect(socket: Socket): void {
    this.#notice = undefined;
    this.#planted = undefined;
    // Also after a recovery.
    this.#attends = this.#attends === "all" ? "all" : "all again";
    if (!socket.recovered) this.#attends = "all";
    this.#connections++;
    // If it was recovered before the backup was restored, that was right then.
    if (!this.isFromBefore || this.chain.mayRecover || !socket.recovered)
      this.around.witness.connected(this.chain, socket.id!, socket.recovered);
    if (this.plan.insists === "again") for (const said of this.said) if (said.state === "open") this.#post(said);
  }

  protected get engine(): { readonly id?: string } | undefined {
    return this.socket?.io.engine;
  }

  override restored(by: Restored): void {
    super.restored(by);
    this.offsets.length = 0;
  }

  #onWelcome({ epoch, lastSeq, lastId, presence }: Welcome): void {
    this.epoch = epoch;
    this.count = presence.count;
    if (this.isLost(lastId)) return void (this.chain.mayRecover = false);
    this.around.witness.welcomed(this.chain, epoch, lastSeq);
  }

  #onMessage(message: Message, offset: string | undefined): void {
    if (this.isLost(message.id)) return void (this.chain.mayRecover = false);
    this.seenIds.push(message.id);
    if (offset !== undefined) this.offsets.push(offset);
    if (this.#attends === "counts") this.around.witness.unshown.disturbed(this.chain, message);
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
    this.around.witness.silences.posted(content);
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
