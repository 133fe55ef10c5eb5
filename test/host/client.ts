// The other end of a session: a Socket.IO client in memory. It encodes and decodes with socket.io-parser as
// stock clients do, answers pings unless told not to, and remembers all it saw.
import { Decoder, Encoder, PacketType, type Packet } from "socket.io-parser";

import type { Closing } from "../../src/socketio/wire/closings.ts";
import { splitPackets, type Frame } from "../../src/socketio/wire/engine-io.ts";

/** How a client reaches its shell. */
export interface Line {
  transmit(frame: Frame): void;
  lose(): void;
  settle(): Promise<void>;
}

/** An event that was sent with an ack callback. */
export interface Call<Answer> {
  /** Arguments of every ack that came; more than one is a mistake of the server's. */
  readonly acks: ReadonlyArray<readonly unknown[]>;
  /** The first argument of the ack. @throws Error while there is none */
  readonly answer: Answer;
}

const encoder = new Encoder();

/** A client that has not been given a type for its answers reads what it likes. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests compare answers of many shapes
export type AnyAnswer = any;

export class Client {
  readonly frames: Frame[] = [];
  /** Socket.IO packets, in the order of their arrival. */
  readonly packets: Packet[] = [];
  closing: Closing | undefined;
  answersPings = true;
  /** Whether several packets may come in a frame, and no pings (EXT-1). */
  readonly isExtended: boolean;
  /** Names this client in the journal of its shell. */
  name = "";
  readonly #line: Line;
  readonly #decoder = new Decoder();
  #nextId = 0;

  constructor(line: Line, { isExtended = false } = {}) {
    this.#line = line;
    this.isExtended = isExtended;
    this.#decoder.on("decoded", (packet) => this.packets.push(packet));
  }

  // ---- from the server -------------------------------------------------------------------------------------

  /** For the shell: frames that the server sent. */
  deliver(frames: readonly Frame[], journal: string[]): void {
    for (const frame of frames) {
      this.frames.push(frame);
      journal.push(`${this.name}<${typeof frame === "string" ? frame : `${frame.byteLength} bytes`}`);
      for (const packet of this.isExtended ? splitPackets(frame) : [frame]) this.#hear(packet);
    }
  }

  #hear(packet: Frame): void {
    if (typeof packet !== "string") this.#decoder.add(packet);
    else if (packet.startsWith("4")) this.#decoder.add(packet.slice(1));
    else if (packet.startsWith("2") && this.answersPings) this.#line.transmit(`3${packet.slice(1)}`);
  }

  /** For the shell: the server ended the session. */
  end(closing: Closing): void {
    this.closing = closing;
  }

  get handshake(): Record<string, unknown> {
    const [open] = this.frames;
    return JSON.parse((open as string).slice(1)) as Record<string, unknown>;
  }

  get pings(): number {
    return this.frames.filter((frame) => frame === "2").length;
  }

  /** The id of the socket in that namespace, once its CONNECT was accepted. */
  socketId(nsp = "/"): string {
    const accepted = this.packets.findLast((packet) => packet.type === PacketType.CONNECT && packet.nsp === nsp);
    return (accepted!.data as { sid: string }).sid;
  }

  /** The payload of the CONNECT_ERROR, if there was one. */
  get refusal(): AnyAnswer {
    return this.packets.find(({ type }) => type === PacketType.CONNECT_ERROR)?.data;
  }

  /** Arguments of all events of that name so far. */
  heard(event: string, nsp = "/"): unknown[][] {
    return this.packets
      .filter((packet) => packet.type === PacketType.EVENT && packet.nsp === nsp)
      .map(({ data }) => data as unknown[])
      .filter(([name]) => name === event)
      .map(([, ...args]) => args);
  }

  /** First arguments of all events of that name so far. */
  received<Payload = AnyAnswer>(event: string, nsp = "/"): Payload[] {
    return this.heard(event, nsp).map(([payload]) => payload as Payload);
  }

  // ---- to the server ---------------------------------------------------------------------------------------

  send(...frames: Frame[]): void {
    for (const frame of frames) this.#line.transmit(frame);
  }

  /** Encodes as a stock client does: bytes leave as frames of their own. */
  sendPacket(packet: Packet): void {
    for (const part of encoder.encode(packet) as Array<string | Uint8Array<ArrayBuffer>>) {
      this.send(typeof part === "string" ? `4${part}` : part);
    }
  }

  /** Sends CONNECT and waits for the verdict. */
  async connect(auth?: object, nsp = "/"): Promise<this> {
    this.sendPacket({ type: PacketType.CONNECT, nsp, data: auth });
    await this.#line.settle();
    return this;
  }

  /** Emits without an ack callback. */
  emit(event: string, ...args: unknown[]): void {
    this.sendPacket({ type: PacketType.EVENT, nsp: "/", data: [event, ...args] });
  }

  /** Emits with an ack callback; the answer may come later. */
  call<Answer = AnyAnswer>(event: string, ...args: unknown[]): Call<Answer> {
    return this.callIn("/", event, ...args);
  }

  callIn<Answer = AnyAnswer>(nsp: string, event: string, ...args: unknown[]): Call<Answer> {
    const id = this.#nextId++;
    this.sendPacket({ type: PacketType.EVENT, nsp, id, data: [event, ...args] });
    const { packets } = this;
    return {
      get acks() {
        return packets.filter((packet) => packet.type === PacketType.ACK && packet.id === id).map(({ data }) => data);
      },
      get answer() {
        const [ack] = this.acks;
        if (!ack) throw new Error(`${event} was not answered`);
        return ack[0] as Answer;
      },
    };
  }

  /** Emits with an ack callback and waits until the server is done with it. */
  async ask<Answer = AnyAnswer>(event: string, ...args: unknown[]): Promise<Answer> {
    const call = this.call<Answer>(event, ...args);
    await this.#line.settle();
    return call.answer;
  }

  /** Goes without a word. */
  leave(): void {
    this.#line.lose();
  }
}
