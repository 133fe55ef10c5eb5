// A Socket.IO client for tests that compare what exactly travels: keeps all frames, answers pings unless told not to, and waits for
// frames instead of sleeping. RawClient gives it a WebSocket.
import { readPacket, SEPARATOR, writePacket, type WirePacket } from "./packets.ts";

export type Frame = string | ArrayBuffer;

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** Carries frames to the server. */
export interface Transport {
  send(frame: Frame): void;
  close(code: number, reason: string): void;
}

const WAIT_MS_MAX = 30_000;

export class WireClient {
  readonly frames: Frame[] = [];
  closed: Closing | undefined;
  readonly #transport: Transport;
  readonly #answersPings: boolean;
  readonly #isExtended: boolean;
  readonly #watchers = new Set<() => void>();
  readonly #packets: WirePacket[] = [];
  #framesRead = 0;
  #nextAckId = 0;

  constructor(transport: Transport, { answersPings = true, isExtended = false } = {}) {
    this.#transport = transport;
    this.#answersPings = answersPings;
    this.#isExtended = isExtended;
  }

  // ---- from the server -------------------------------------------------------------------------------------

  /** Called by the transport. */
  protected receive(frame: Frame): void {
    this.frames.push(frame);
    // EIO-10: a ping may ask for something to be sent back.
    if (typeof frame === "string" && frame.startsWith("2") && this.#answersPings) this.send(`3${frame.slice(1)}`);
    this.#notify();
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

  get pings(): number {
    return this.frames.filter((frame) => frame === "2").length;
  }

  /** Socket.IO packets of one namespace so far. */
  packets(nsp = "/"): WirePacket[] {
    // Each frame is read once: in a burst every answer that is waited for looks at all of them.
    if (this.frames.length < this.#framesRead) this.#framesRead = this.#packets.length = 0;
    for (const frame of this.frames.slice(this.#framesRead)) this.#read(frame);
    this.#framesRead = this.frames.length;
    return this.#packets.filter((packet) => packet.nsp === nsp);
  }

  #read(frame: Frame): void {
    if (typeof frame !== "string") return;
    for (const text of this.#isExtended ? frame.split(SEPARATOR) : [frame]) {
      const packet = readPacket(text);
      if (packet) this.#packets.push(packet);
    }
  }

  /** Events so far: name and arguments, and the ack id of those that ask for an answer. */
  events(nsp = "/"): Array<{ readonly id: number | undefined; readonly event: unknown[] }> {
    return this.packets(nsp).flatMap(({ digit, id, data }) =>
      digit === "2" ? [{ id, event: data as unknown[] }] : [],
    );
  }

  /** First arguments of all events of that name so far. */
  received<Payload = Record<string, unknown>>(name: string): Payload[] {
    return this.events()
      .filter(({ event }) => event[0] === name)
      .map(({ event }) => event[1] as Payload);
  }

  /** Waits until `count` events of that name have come in all. */
  receives<Payload = Record<string, unknown>>(name: string, count = 1): Promise<Payload[]> {
    return this.until(`${count} of ${name}`, () => {
      const received = this.received<Payload>(name);
      return received.length >= count ? received : undefined;
    });
  }

  closes(): Promise<Closing> {
    return this.until("the closing", () => this.closed);
  }

  /** Waits until `find` finds something, looking again at each frame and closing. */
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

  /** Sends CONNECT and waits for the verdict. @returns the accepting packet's data; @throws the CONNECT_ERROR's payload */
  async enter<Accepted>(nsp: string, auth?: object): Promise<Accepted> {
    this.send(writePacket({ digit: "0", nsp, data: auth }));
    const verdict = await this.until(`the answer to CONNECT ${nsp}`, () =>
      this.packets(nsp).find(({ digit }) => digit === "0" || digit === "4"),
    );
    // oxlint-disable-next-line typescript/only-throw-error -- what a test compares is the payload itself
    if (verdict.digit === "4") throw verdict.data;
    return verdict.data as Accepted;
  }

  /** Enters the main namespace. @returns the socket's id; @throws the CONNECT_ERROR's payload */
  async connect(auth?: object): Promise<string> {
    return (await this.enter<{ sid: string }>("/", auth)).sid;
  }

  /** Emits with an ack callback. @returns the first argument of the answer */
  async call<Answer>(nsp: string, event: string, ...args: unknown[]): Promise<Answer> {
    const id = this.#nextAckId++;
    this.send(writePacket({ digit: "2", nsp, id, data: [event, ...args] }));
    const ack = await this.until(`the answer to ${event}`, () =>
      this.packets(nsp).find((packet) => packet.digit === "3" && packet.id === id),
    );
    return (ack.data as Answer[])[0]!;
  }

  /** The same in the main namespace, with one argument. */
  ask<Answer = Record<string, unknown>>(event: string, payload: unknown): Promise<Answer> {
    return this.call("/", event, payload);
  }

  /** Emits without an ack callback. */
  say(event: string, ...args: unknown[]): void {
    this.send(writePacket({ digit: "2", data: [event, ...args] }));
  }
}
