// HTTP long-polling as a line: one request that waits for packets, and one that carries those which have gathered meanwhile.
import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as requestSecurely } from "node:https";

import type { Target } from "../measuring/raw-socket.ts";
import { eachPacket, type Line, type LineListener } from "./line.ts";

const SEPARATOR = "\x1e";
/** Keeps connections, as a browser does. One per address and process: agents do not mix addresses. */
const agents = { plain: new Agent({ keepAlive: true }), secure: new SecureAgent({ keepAlive: true }) };

export interface PollingListener extends LineListener {
  /** A request goes out. */
  requested(): void;
}

export class PollingLine implements Line {
  readonly #target: Target;
  readonly #listener: PollingListener;
  #sid: string | undefined;
  #waiting: string[] = [];
  #isPosting = false;
  #isOver = false;

  constructor(target: Target, listener: PollingListener) {
    this.#target = target;
    this.#listener = listener;
    void this.#poll();
  }

  send(packet: string): void {
    this.#waiting.push(packet);
    if (!this.#isPosting) void this.#post();
  }

  drop(): void {
    this.#isOver = true;
  }

  async #poll(): Promise<void> {
    try {
      while (!this.#isOver) this.#receive(await this.#ask("GET"));
    } catch (error) {
      this.#end(error as Error);
    }
  }

  async #post(): Promise<void> {
    this.#isPosting = true;
    try {
      while (this.#waiting.length > 0 && !this.#isOver) {
        await this.#ask("POST", this.#waiting.splice(0).join(SEPARATOR));
      }
    } catch (error) {
      this.#end(error as Error);
    } finally {
      this.#isPosting = false;
    }
  }

  #receive(body: Buffer): void {
    if (this.#isOver) return;
    if (this.#sid === undefined) this.#sid = (JSON.parse(body.toString("utf8", 1)) as { sid: string }).sid;
    eachPacket(body, 0, body.length, this.#listener);
  }

  async #ask(method: string, body?: string): Promise<Buffer> {
    this.#listener.requested();
    const { host, port, path, localAddress, isSecure } = this.#target;
    const sid = this.#sid === undefined ? "" : `&sid=${this.#sid}`;
    const options = { host, port, path: `${path}${sid}`, method, ...(localAddress && { localAddress }) };
    const ask = isSecure
      ? (answered: Answered) => requestSecurely({ ...options, agent: agents.secure }, answered)
      : (answered: Answered) => request({ ...options, agent: agents.plain }, answered);
    try {
      return await exchange(ask, body);
    } catch (error) {
      if (!(error instanceof UnseenError)) throw error;
      return this.#ask(method, body);
    }
  }

  #end(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.closed(error.message);
  }
}

type Answered = (response: IncomingMessage) => void;

/** The server closed a kept connection just as it was used again, and has not seen the request. */
class UnseenError extends Error {}

async function exchange(ask: (answered: Answered) => ClientRequest, body: string | undefined): Promise<Buffer> {
  return read(
    await new Promise<IncomingMessage>((resolve, reject) => {
      const asking = ask(resolve);
      asking.once("error", (error: NodeJS.ErrnoException) => {
        const isUnseen = asking.reusedSocket && error.code === "ECONNRESET";
        reject(isUnseen ? new UnseenError() : error);
      });
      asking.end(body);
    }),
  );
}

async function read(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  if (response.statusCode !== 200) throw new Error(`HTTP/1.1 ${response.statusCode} ${body.toString("utf8", 0, 200)}`);
  return body;
}
