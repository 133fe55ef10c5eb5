// The Socket.IO client of all tests in which no stock client runs; `parley-rooms/testing` exports it. It encodes and decodes with
// socket.io-parser as stock clients do, answers pings by default, and keeps all frames and packets. A transport carries its frames: a
// WebSocket (raw-client.ts), a room in memory (test/host/client.ts), or long-polling (test/durable/poller.ts).
import { Decoder, Encoder, PacketType, type Packet } from "socket.io-parser";

export { PacketType, type Packet } from "socket.io-parser";

/** Between the packets of one polling payload, and of one frame of a client with extensions (EXT-2). */
export const SEPARATOR = "\x1e";

export type Frame = string | ArrayBuffer | Uint8Array<ArrayBuffer>;

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** Carries frames to the server. */
export interface Transport {
  send(frame: Frame): void;
  close(code: number, reason: string): void;
}

/** An event that was sent with an ack callback. */
export interface Call<Answer> {
  /** Arguments of every ack that came; more than one is a mistake of the server's. */
  readonly acks: ReadonlyArray<readonly unknown[]>;
  /** The first argument of the ack. @throws Error while there is none */
  readonly answer: Answer;
}

/** In place of `unknown`: this repository's own tests read answers freely. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests compare answers of many shapes
export type AnyAnswer = any;

/** No test waits longer for a frame. */
const WAIT_MS_MAX = 120_000;

const encoder = new Encoder();

/** @template Any of answers and payloads for which no type is named */
export class WireClient<Any = unknown> {
  readonly frames: Frame[] = [];
  /** Socket.IO packets, in the order of their arrival. */
  readonly packets: Packet[] = [];
  closed: Closing | undefined;
  answersPings: boolean;
  /** Whether several packets may come in a frame, and no pings (EXT-1). */
  readonly isExtended: boolean;
  readonly #transport: Transport;
  readonly #decoder = new Decoder();
  readonly #watchers = new Set<() => void>();
  /** Arguments of acks, by namespace and id: clients wait for many at a time. */
  readonly #acks = new Map<string, unknown[][]>();
  #nextAckId = 0;

  constructor(transport: Transport, { answersPings = true, isExtended = false } = {}) {
    this.#transport = transport;
    this.answersPings = answersPings;
    this.isExtended = isExtended;
    this.#decoder.on("decoded", (packet) => {
      this.packets.push(packet);
      if (packet.type === PacketType.ACK) this.#acks.get(`${packet.nsp} ${packet.id}`)?.push(packet.data);
    });
  }

  // ---- from the server -------------------------------------------------------------------------------------

  /** Called by the transport. */
  protected receive(frame: Frame): void {
    this.frames.push(frame);
    if (typeof frame !== "string") this.#decoder.add(frame);
    else for (const packet of this.isExtended ? frame.split(SEPARATOR) : [frame]) this.#read(packet);
    this.#notify();
  }

  #read(packet: string): void {
    if (packet.startsWith("4")) this.#decoder.add(packet.slice(1));
    // EIO-10: a ping may ask for something to be sent back.
    else if (packet.startsWith("2") && this.answersPings) this.send(`3${packet.slice(1)}`);
  }

  /** Called by the transport. */
  protected end(closing: Closing): void {
    this.closed ??= closing;
    this.#notify();
  }

  /** The parsed `open` packet. */
  get handshake(): { sid: string; upgrades: string[]; pingInterval: number; pingTimeout: number; maxPayload: number } {
    return JSON.parse((this.frames[0] as string).slice(1));
  }

  /** The frames of text. */
  get texts(): string[] {
    return this.frames.filter((frame) => typeof frame === "string");
  }

  get pings(): number {
    return this.frames.filter((frame) => frame === "2").length;
  }

  /** The answer to the last CONNECT of that namespace that was accepted; `pid` where the server offers recovery. */
  accepted(nsp = "/"): { sid: string; pid: string } {
    return this.packets.findLast((packet) => packet.type === PacketType.CONNECT && packet.nsp === nsp)!.data;
  }

  /** Events so far: name and arguments, and the ack id of those that ask for an answer. */
  events(nsp = "/"): Array<{ readonly id: number | undefined; readonly event: unknown[] }> {
    return this.packets
      .filter((packet) => packet.type === PacketType.EVENT && packet.nsp === nsp)
      .map(({ id, data }) => ({ id, event: data as unknown[] }));
  }

  /** Arguments of all events of that name so far. */
  heard(name: string, nsp = "/"): unknown[][] {
    return this.events(nsp).flatMap(({ event: [event, ...args] }) => (event === name ? [args] : []));
  }

  /** First arguments of all events of that name so far. */
  received<Payload = Any>(name: string, nsp = "/"): Payload[] {
    return this.heard(name, nsp).map(([payload]) => payload as Payload);
  }

  /** Waits until `count` events of that name have come in all. */
  receives<Payload = Any>(name: string, count = 1): Promise<Payload[]> {
    return this.until(`${count} of ${name}`, () => {
      const received = this.received<Payload>(name);
      return received.length >= count ? received : undefined;
    });
  }

  /** Waits for a packet of that type in the main namespace. */
  receivesPacket(type: PacketType, id?: number): Promise<Packet> {
    return this.until(`a packet of type ${PacketType[type]}`, () =>
      this.packets.find(
        (packet) => packet.type === type && packet.nsp === "/" && (id === undefined || packet.id === id),
      ),
    );
  }

  closes(): Promise<Closing> {
    return this.until("the closing", () => this.closed);
  }

  /** Waits until `find` finds something, looking again at each frame and closing. Transports that have to fetch frames override it. */
  until<Found>(what: string, find: () => Found | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found !== undefined) settle(() => resolve(found));
        else if (this.closed) settle(() => reject(new Error(`closed (${this.closed?.code}) before ${what}`)));
      };
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        finish();
      };
      const late = (): void => settle(() => reject(new Error(`no ${what} in ${WAIT_MS_MAX} ms: ${this.#tail()}`)));
      const timer = setTimeout(late, WAIT_MS_MAX);
      this.#watchers.add(look);
      look();
    });
  }

  #tail(): string {
    return JSON.stringify(this.frames.slice(-5));
  }

  #notify(): void {
    for (const look of this.#watchers) look();
  }

  // ---- to the server ---------------------------------------------------------------------------------------

  send(...frames: Frame[]): void {
    for (const frame of frames) this.#transport.send(frame);
  }

  close(code = 1000, reason = ""): void {
    this.#transport.close(code, reason);
  }

  /** Encodes as a stock client does: bytes leave as frames of their own. */
  sendPacket(packet: Packet): void {
    for (const part of encoder.encode(packet) as Array<string | Uint8Array<ArrayBuffer>>) {
      this.send(typeof part === "string" ? `4${part}` : part);
    }
  }

  /** Sends CONNECT and waits for the decision. @returns the accepting packet's data; @throws the CONNECT_ERROR's payload */
  async enter<Accepted>(nsp: string, auth?: object): Promise<Accepted> {
    const heard = this.packets.length;
    this.sendPacket({ type: PacketType.CONNECT, nsp, data: auth });
    const verdict = await this.until(`the answer to CONNECT ${nsp}`, () =>
      this.packets
        .slice(heard)
        .find(
          (packet) =>
            packet.nsp === nsp && (packet.type === PacketType.CONNECT || packet.type === PacketType.CONNECT_ERROR),
        ),
    );
    if (verdict.type === PacketType.CONNECT_ERROR) throw verdict.data;
    return verdict.data as Accepted;
  }

  /** Emits without an ack callback. */
  emit(event: string, ...args: unknown[]): void {
    this.sendPacket({ type: PacketType.EVENT, nsp: "/", data: [event, ...args] });
  }

  /** Emits with an ack callback; the answer may come later. */
  call<Answer = Any>(event: string, ...args: unknown[]): Call<Answer> {
    return this.callIn("/", event, ...args);
  }

  callIn<Answer = Any>(nsp: string, event: string, ...args: unknown[]): Call<Answer> {
    const id = this.#nextAckId++;
    const acks: unknown[][] = [];
    this.#acks.set(`${nsp} ${id}`, acks);
    this.sendPacket({ type: PacketType.EVENT, nsp, id, data: [event, ...args] });
    return {
      acks,
      get answer() {
        const [ack] = acks;
        if (!ack) throw new Error(`${event} was not answered`);
        return ack[0] as Answer;
      },
    };
  }

  /** Emits with an ack callback and waits for the answer. */
  ask<Answer = Any>(event: string, ...args: unknown[]): Promise<Answer> {
    return this.askIn("/", event, ...args);
  }

  async askIn<Answer = Any>(nsp: string, event: string, ...args: unknown[]): Promise<Answer> {
    const call = this.callIn<Answer>(nsp, event, ...args);
    await this.until(`the answer to ${event}`, () => call.acks[0]);
    return call.answer;
  }
}
