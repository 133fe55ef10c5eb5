// A wire client at the other end of a session in memory. The shell of the harness delivers its frames.
import type { Closing } from "../../src/socketio/wire/closings.ts";
import type { Frame } from "../../src/socketio/wire/engine-io.ts";
import { PacketType, WireClient, type AnyAnswer } from "../wire/wire-client.ts";

export type { AnyAnswer, Call } from "../wire/wire-client.ts";

/** The way from a client to its shell. */
export interface Line {
  transmit(frame: Frame): void;
  lose(): void;
  settle(): Promise<void>;
}

export class Client extends WireClient<AnyAnswer> {
  closing: Closing | undefined;
  /** Names this client in the journal of its shell. */
  name = "";
  readonly #line: Line;

  constructor(line: Line, { isExtended = false } = {}) {
    super({ send: (frame) => line.transmit(frame as Frame), close: () => line.lose() }, { isExtended });
    this.#line = line;
  }

  /** Called by the shell for frames that the server sent. */
  deliver(frames: readonly Frame[], journal: string[]): void {
    for (const frame of frames) {
      journal.push(`${this.name}<${typeof frame === "string" ? frame : `${frame.byteLength} bytes`}`);
      this.receive(frame);
    }
  }

  /** Called by the shell when the server ended the session. */
  override end(closing: Closing): void {
    this.closing = closing;
  }

  /** The id of the socket in that namespace, once its CONNECT was accepted. */
  socketId(nsp = "/"): string {
    return this.accepted(nsp).sid;
  }

  /** The payload of the CONNECT_ERROR, if there was one. */
  get refusal(): AnyAnswer {
    return this.packets.find(({ type }) => type === PacketType.CONNECT_ERROR)?.data;
  }

  /** The clock of a room in memory stands still meanwhile: a frame that has not come by then does not come. */
  override async until<Found>(what: string, find: () => Found | undefined): Promise<Found> {
    await this.#line.settle();
    const found = find();
    if (found === undefined) throw new Error(`${what} did not come`);
    return found;
  }

  /** Sends CONNECT and waits for the decision, whichever it is. */
  async connect(auth?: object, nsp = "/"): Promise<this> {
    this.sendPacket({ type: PacketType.CONNECT, nsp, data: auth });
    await this.#line.settle();
    return this;
  }

  /** Breaks the connection without a packet. */
  leave(): void {
    this.close();
  }
}
