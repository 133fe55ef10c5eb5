// A wire client over long-polling, which polls and posts only when a test asks. Called by the tests of polling and of the upgrade.
import { exports } from "cloudflare:workers";
import { expect } from "vitest";
import type { Message } from "../../src/protocol/chat-events.ts";
import { SEPARATOR, WireClient, type AnyAnswer, type Frame } from "../wire/wire-client.ts";
import { ORIGIN, RawClient, upgrade, type UpgradeOptions } from "./raw-client.ts";
import { freshRoom, tokenFor } from "./rooms.ts";

/** The default MAX_PAYLOAD. */
export const PAYLOAD_BYTES_MAX = 65_536;
/** A poll that has nothing to bring is still waiting after this. */
export const PATIENCE_MS = 300;

export const UNKNOWN_SID = { code: 1, message: "Session ID unknown" };
export const BAD_REQUEST = { code: 3, message: "Bad request" };

export interface PollingOptions {
  readonly room: string;
  readonly sid?: string;
  readonly method?: string;
  readonly body?: string | ReadableStream;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly fetcher?: NonNullable<UpgradeOptions["fetcher"]>;
}

export async function request(options: PollingOptions): Promise<Response> {
  const { room, sid, method = "GET", body, headers = {}, query, fetcher = exports.default } = options;
  const url = new URL(`/rooms/${room}/socket.io/`, ORIGIN);
  url.searchParams.set("EIO", "4");
  url.searchParams.set("transport", "polling");
  for (const [name, value] of Object.entries({ ...query, ...(sid !== undefined && { sid }) })) {
    url.searchParams.set(name, value);
  }
  return fetcher.fetch(new Request(url, { method, headers, ...(body !== undefined && { body }) }));
}

export async function answerOf(response: Promise<Response> | Response): Promise<{ status: number; body: unknown }> {
  const { status, body } = await textOf(response);
  return { status, body: JSON.parse(body) };
}

export async function textOf(response: Promise<Response> | Response): Promise<{ status: number; body: string }> {
  const answer = await response;
  return { status: answer.status, body: await answer.text() };
}

export class Poller extends WireClient<AnyAnswer> {
  readonly room: string;
  readonly #query: PollingOptions["query"];
  /** Posts under way. */
  #posting: Promise<unknown> = Promise.resolve();

  /** Up to and with the Engine.IO handshake. */
  static async open(room = freshRoom(), options: Pick<PollingOptions, "headers" | "query"> = {}): Promise<Poller> {
    const poller = new Poller(room, options.query);
    poller.#receivePayload((await textOf(request({ room, ...options }))).body);
    return poller;
  }

  /** A member that got its welcome. */
  static async join(room: string, user: string, headers: PollingOptions["headers"] = {}): Promise<Poller> {
    const poller = await Poller.open(room, { headers });
    await poller.enter("/", { token: await tokenFor(user) });
    await poller.receives("welcome");
    return poller;
  }

  private constructor(room: string, query: PollingOptions["query"]) {
    const send = (frame: Frame): void => void (this.#posting = this.#postAfter(this.#posting, frame as string));
    super({ send, close: () => send("1") }, { answersPings: false });
    this.room = room;
    this.#query = query;
  }

  async #postAfter(earlier: Promise<unknown>, packet: string): Promise<void> {
    await earlier;
    expect(await textOf(this.post(packet))).toEqual({ status: 200, body: "ok" });
  }

  #receivePayload(body: string): string[] {
    const packets = body.split(SEPARATOR);
    for (const packet of packets) this.receive(packet);
    return packets;
  }

  /** Polls until it is found. */
  override async until<Found>(_what: string, find: () => Found | undefined): Promise<Found> {
    await this.#posting;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await this.#fetch();
    }
  }

  async #fetch(): Promise<string[]> {
    const { status, body } = await textOf(this.poll());
    expect(status, body).toBe(200);
    return this.#receivePayload(body);
  }

  poll(): Promise<Response> {
    return request({ room: this.room, sid: this.handshake.sid, query: this.#query });
  }

  /** The answer has come whole by then: an object whose answers are left lying cannot be put to sleep. */
  async post(body: string | ReadableStream): Promise<Response> {
    const { room } = this;
    const response = await request({ room, sid: this.handshake.sid, query: this.#query, method: "POST", body });
    return new Response(await response.text(), response);
  }

  /** A post whose body has only begun. @returns sends its rest, and waits for the answer */
  async beginPost(head: string): Promise<(tail: string) => Promise<Response>> {
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const answer = this.post(readable);
    await writer.write(new TextEncoder().encode(head));
    return async (tail) => {
      // A refused client does not read the rest of the answer.
      await writer.write(new TextEncoder().encode(tail)).catch(() => undefined);
      await writer.close().catch(() => undefined);
      return answer;
    };
  }

  /** Polls until a packet fits. @returns all packets up to the payload that brought it */
  async pollUntil(fits: (packet: string) => boolean): Promise<string[]> {
    const packets: string[] = [];
    while (!packets.some(fits)) packets.push(...(await this.#fetch()));
    return packets;
  }

  /** A WebSocket for the same session. */
  async openWebSocket(query: Readonly<Record<string, string>> = {}): Promise<RawClient> {
    const response = await upgrade({ room: this.room, query: { ...query, sid: this.handshake.sid } });
    expect(response.status).toBe(101);
    return RawClient.over(response.webSocket!, { query, answersPings: false });
  }

  /** The server has ended the session: one more poll shows it. */
  async isOver(): Promise<void> {
    expect(await textOf(this.poll())).toEqual({ status: 200, body: "1" });
    await this.isGone();
  }

  async isGone(): Promise<void> {
    expect(await answerOf(this.poll())).toEqual({ status: 400, body: UNKNOWN_SID });
  }
}

export const isStillWaiting = (poll: Promise<Response>): Promise<boolean> =>
  Promise.race([
    poll.then(() => false),
    new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(true), PATIENCE_MS);
    }),
  ]);

export const say = (content: string, ackId: number | "" = ""): string =>
  `42${ackId}${JSON.stringify(["chat-message", { content }])}`;

/** The messages among packets, in the order in which they came. */
export function messagesIn(packets: readonly string[]): Message[] {
  const begin = '42["chat-message",';
  return packets.flatMap((packet) =>
    packet.startsWith(begin) ? [JSON.parse(packet.slice(begin.length, -1)) as Message] : [],
  );
}
